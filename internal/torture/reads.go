//go:build linux

package torture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Read is a call by which a program reads of a file, or lists a folder.
type Read struct {
	Path string
	At   int64 // where in the file
	Size int   // so many bytes are asked for
	List bool  // of a folder
}

// Answer says what becomes of a call; as it is, the call is made.
type Answer struct {
	Err  syscall.Errno // it fails
	End  bool          // the file ends here
	Most int           // it gives so many bytes at most; 0: all
}

// RunReading is Run of a program whose reads are judged, those of all its threads and children, without a privilege: the kernel
// asks before each (seccomp(2), SECCOMP_RET_USER_NOTIF). judge is called by one goroutine.
func RunReading(ctx context.Context, cmd *exec.Cmd, b Bounds, judge func(Read) Answer) (c Child, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // to the end: what is asked of this thread, its children inherit
		var listener int
		if listener, err = listenToReads(); err != nil {
			err = fmt.Errorf("reads cannot be judged here: %w", err)
			return
		}
		ended, served := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(served)
			r := reads{listener: listener, self: unix.Getpid(), judge: judge}
			r.serve(ended)
		}()
		c, err = Run(ctx, cmd, b)
		close(ended)
		// The listener stays: without, each read of this thread would fail, until it has ended.
		go func() {
			<-served
			unix.Close(listener)
		}()
	}()
	<-done
	return c, err
}

// listenToReads has this thread, and what it starts, ask before they read.
func listenToReads() (int, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	load := unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS} // the call's number
	end := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	program := []unix.SockFilter{load}
	calls := []uint32{unix.SYS_READ, unix.SYS_PREAD64, unix.SYS_GETDENTS64}
	for i, call := range calls {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jt: uint8(len(calls) - i)})
	}
	program = append(program, end(unix.SECCOMP_RET_ALLOW), end(unix.SECCOMP_RET_USER_NOTIF))
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	// A signal, as by which Go stops goroutines, must not end a call that has been answered: what was read for it would be lost.
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

// reads answers the kernel.
type reads struct {
	listener, self int
	judge          func(Read) Answer
}

// question and reply are the kernel's struct seccomp_notif and seccomp_notif_resp.
type question struct {
	id    uint64
	pid   uint32
	flags uint32
	call  int32
	arch  uint32
	at    uint64
	args  [6]uint64
}

type reply struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

// serve answers until nobody is left that asks.
func (r *reads) serve(ended chan struct{}) {
	for {
		ready := []unix.PollFd{{Fd: int32(r.listener), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, 100)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil, n > 0 && ready[0].Revents&unix.POLLIN == 0:
			return
		case n > 0:
			r.answer()
		default:
			select {
			case <-ended:
				return
			default:
			}
		}
	}
}

func (r *reads) answer() {
	var q question
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(r.listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&q))); errno != 0 {
		return // it was killed meanwhile
	}
	a := reply{id: q.id}
	if done, value, err := r.does(&q); done {
		a.value, a.err = int64(value), -int32(err)
	} else {
		a.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
	}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(r.listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&a)))
}

// does judges a call and, where it is not to be made as it is, does what becomes of it.
func (r *reads) does(q *question) (done bool, value int, err syscall.Errno) {
	process := statusOf(q.pid, "Tgid:")
	if process == r.self || process == 0 {
		return false, 0, 0
	}
	path, e := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", q.pid, int32(q.args[0])))
	if e != nil || !strings.HasPrefix(path, "/") {
		return false, 0, 0
	}
	read := Read{Path: path, Size: int(q.args[2]), List: q.call == unix.SYS_GETDENTS64}
	if q.call == unix.SYS_PREAD64 {
		read.At = int64(q.args[3])
	} else {
		read.At = int64(fieldOf(fmt.Sprintf("/proc/%d/fdinfo/%d", q.pid, int32(q.args[0])), "pos:"))
	}
	a := r.judge(read)
	switch {
	case a.Err != 0:
		return true, 0, a.Err
	case a.End:
		return true, 0, 0
	case a.Most > 0 && a.Most < read.Size && !read.List:
		n, err := r.instead(q, process, a.Most)
		return true, n, err
	}
	return false, 0, 0
}

// instead reads some bytes in the place of a program, of which the file moves on as it would.
func (r *reads) instead(q *question, process, most int) (int, syscall.Errno) {
	data := make([]byte, most)
	n, err := func() (int, error) {
		of, err := unix.PidfdOpen(process, 0)
		if err != nil {
			return 0, err
		}
		defer unix.Close(of)
		fd, err := unix.PidfdGetfd(of, int(int32(q.args[0])), 0)
		if err != nil {
			return 0, err
		}
		defer unix.Close(fd)
		var n int
		if q.call == unix.SYS_PREAD64 {
			n, err = unix.Pread(fd, data, int64(q.args[3]))
		} else {
			n, err = unix.Read(fd, data)
		}
		if err != nil || n == 0 {
			return n, err
		}
		local := []unix.Iovec{{Base: &data[0], Len: uint64(n)}}
		return unix.ProcessVMWritev(process, local, []unix.RemoteIovec{{Base: uintptr(q.args[1]), Len: n}}, 0)
	}()
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return 0, errno
	}
	return n, 0
}

// statusOf returns a number of a thread's status, 0 where there is none.
func statusOf(tid uint32, name string) int { return fieldOf(fmt.Sprintf("/proc/%d/status", tid), name) }

// fieldOf returns a number behind a name that begins a line; 0 where there is none.
func fieldOf(path, name string) int {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(rest))
			return n
		}
	}
	return 0
}
