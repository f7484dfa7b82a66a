package cmd

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"github.com/trtui/trtui/internal/host"
)

// The bounds on a file of authorized keys.
const (
	mostKeyBytes = 1 << 20
	mostKeys     = 1000
)

// readAuthorizedKeys reads public keys, one a line. Options of a line would restrict its key in ways that nothing here heeds: they
// are refused.
func readAuthorizedKeys(path string) ([]ssh.PublicKey, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > mostKeyBytes {
		err = fmt.Errorf("%s: more than %d bytes", path, mostKeyBytes)
	}
	if err != nil {
		return nil, err
	}
	data, err := host.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var keys []ssh.PublicKey
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if text = bytes.TrimSpace(text); len(text) == 0 || text[0] == '#' {
			continue
		}
		key, _, options, _, err := gossh.ParseAuthorizedKey(text)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s:%d: this is no public key", path, line)
		case len(options) > 0:
			return nil, fmt.Errorf("%s:%d: options of keys, such as %s, are not supported", path, line, options[0])
		case len(keys) == mostKeys:
			return nil, fmt.Errorf("%s:%d: more than %d keys", path, line, mostKeys)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s: there is no key in it", path)
	}
	return keys, nil
}

func isAuthorized(allowed []ssh.PublicKey, key ssh.PublicKey) bool {
	return slices.ContainsFunc(allowed, func(k ssh.PublicKey) bool { return ssh.KeysEqual(k, key) })
}

// hostKey reads the server's key, or makes one that its owner alone can read.
func hostKey(path string) (ssh.Signer, error) {
	if path = cmp.Or(path, ownConfig("ssh_host_ed25519_key")); path == "" {
		return nil, errors.New("there is no folder of configurations: name a file")
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeHostKey(path); err != nil {
			return nil, err
		}
		info, err = os.Stat(path)
	}
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%s: others can read it (mode %04o): chmod 600 makes it its owner's alone", path, mode)
	}
	if info.Size() > mostKeyBytes {
		return nil, fmt.Errorf("%s: this is no private key", path)
	}
	data, err := host.ReadFile(path)
	if err != nil {
		return nil, err
	}
	signer, err := gossh.ParsePrivateKey(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return signer, nil
}

func makeHostKey(path string) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := gossh.MarshalPrivateKey(private, "trtui")
	if err != nil {
		return err
	}
	return homeFile(path, pem.EncodeToMemory(block))
}

func fingerprint(s ssh.Signer) string { return gossh.FingerprintSHA256(s.PublicKey()) }
