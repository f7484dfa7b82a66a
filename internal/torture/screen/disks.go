//go:build linux

package screen

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// disk is a folder that nothing can be written to, in which the workbench is at home.
type disk struct {
	name  string // "full" or "read-only"
	dir   string
	says  *regexp.Regexp // why something cannot be written
	begin string         // words of a shell that make it of DISK
}

var disks = []disk{
	{name: "full", says: regexp.MustCompile(`no space left|disk is full`), begin: "mount -t tmpfs -o size=64k none DISK && { cat /dev/zero >DISK/filler; true; }"},
	{name: "read-only", says: regexp.MustCompile(`read-only file`), begin: "mount -t tmpfs -o size=64k,ro none DISK"},
}

// cannot is the exit code of a program for which there is no such disk.
const cannot = 77

// on has a program started at home on a disk that nobody else sees.
func (d *disk) on(cmd *exec.Cmd) {
	script := regexp.MustCompile("DISK").ReplaceAllString(d.begin, `"$0"`) + fmt.Sprintf(` || exit %d; cd "$0" && exec "$@"`, cannot)
	cmd.Args = append([]string{"sh", "-c", script, d.dir}, cmd.Args...)
	cmd.Path = "/bin/sh"
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
}

// saves are the keys that write a file, each followed by what answers a question of it.
var saves = []struct{ what, key string }{{"the configuration", "W"}, {"a picture", "\x13"}, {"a recording", "w"}}

// refused sees that what cannot be saved is said on the screen, once a session has something to save.
func (a *attempt) refused(d *disk) string {
	a.settle(time.Second, answers)
	for _, s := range saves {
		a.typed = append(a.typed, fmt.Sprintf("%q", s.key))
		if err := a.send(s.key); err != nil {
			return err.Error()
		}
		told := false
		for until := time.Now().Add(answers); !told && time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
			told = d.says.MatchString(unwrapped(a.text()))
		}
		if !told {
			return fmt.Sprintf("does not say that %s cannot be saved on a disk that is %s", s.what, d.name)
		}
		for _, key := range []string{"\x1b", "\x1b"} { // what is said goes
			if err := a.send(key); err != nil {
				return err.Error()
			}
			a.settle(200*time.Millisecond, 2*time.Second)
		}
	}
	return ""
}

// unwrapped puts the lines of a screen behind each other.
func unwrapped(text string) string {
	return regexp.MustCompile(`[ \n│]+`).ReplaceAllString(text, " ")
}

// half returns what is left of a file that could not be written; "" for nothing.
func (a *attempt) half(d *disk) string {
	seen := fmt.Sprintf("/proc/%d/cwd", a.cmd.Process.Pid)
	entries, err := os.ReadDir(seen)
	if err != nil {
		return "" // it has ended
	}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(seen, e.Name()))
		if err == nil && !info.IsDir() && e.Name() != "filler" {
			return "half of a file is left on a disk that is " + d.name
		}
	}
	return ""
}
