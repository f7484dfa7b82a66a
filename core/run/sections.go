package run

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// section is a part of an engine file, under a checksum of its own.
type section struct {
	kind uint32
	data []byte
}

func writeSections(w io.Writer, sections []section) (int64, error) {
	head := make([]byte, headerSize+entrySize*len(sections))
	copy(head, engineMagic)
	binary.LittleEndian.PutUint32(head[8:], engineVersion)
	binary.LittleEndian.PutUint32(head[12:], uint32(len(sections)))
	at := alignSection(len(head))
	for i, s := range sections {
		entry := head[headerSize+entrySize*i:]
		binary.LittleEndian.PutUint32(entry, s.kind)
		binary.LittleEndian.PutUint32(entry[4:], crc32.Checksum(s.data, castagnoli))
		binary.LittleEndian.PutUint64(entry[8:], uint64(at))
		binary.LittleEndian.PutUint64(entry[16:], uint64(len(s.data)))
		at = alignSection(at + len(s.data))
	}
	binary.LittleEndian.PutUint32(head[16:], crc32.Checksum(head, castagnoli))
	var total int64
	write := func(b []byte) error {
		n, err := w.Write(b)
		total += int64(n)
		return err
	}
	pad := make([]byte, sectionAlign)
	if err := write(head); err != nil {
		return total, err
	}
	for _, s := range sections {
		if err := write(pad[:-total&(sectionAlign-1)]); err != nil {
			return total, err
		}
		if err := write(s.data); err != nil {
			return total, err
		}
	}
	return total, nil
}

func alignSection(n int) int { return (n + sectionAlign - 1) &^ (sectionAlign - 1) }

// readSections checks every byte of the file against the header's checksums and returns the sections by kind.
func readSections(data []byte) (map[uint32][]byte, error) {
	if !IsEngine(data) || len(data) < headerSize {
		return nil, fmt.Errorf("not an engine file")
	}
	if v := binary.LittleEndian.Uint32(data[8:]); v < oldestVersion || v > engineVersion {
		return nil, fmt.Errorf("format version %d, this program reads %d to %d: %w", v, oldestVersion, engineVersion, ErrStale)
	}
	count := int(binary.LittleEndian.Uint32(data[12:]))
	if count > maxSections || len(data) < headerSize+entrySize*count {
		return nil, fmt.Errorf("header is damaged: %d sections", count)
	}
	head := slices.Clone(data[:headerSize+entrySize*count])
	clear(head[16:20])
	if crc32.Checksum(head, castagnoli) != binary.LittleEndian.Uint32(data[16:]) {
		return nil, fmt.Errorf("header is damaged: its checksum does not fit")
	}
	sections := map[uint32][]byte{}
	at := len(head)
	for i := range count {
		entry := head[headerSize+entrySize*i:]
		kind := binary.LittleEndian.Uint32(entry)
		offset, length := binary.LittleEndian.Uint64(entry[8:]), binary.LittleEndian.Uint64(entry[16:])
		if offset != uint64(alignSection(at)) || length > uint64(len(data)) || offset+length > uint64(len(data)) {
			return nil, fmt.Errorf("file ends early: section %d of %d bytes at %d, the file has %d", i, length, offset, len(data))
		}
		for _, b := range data[at:offset] {
			if b != 0 {
				return nil, fmt.Errorf("section %d is damaged: bytes before it are not zero", i)
			}
		}
		body := data[offset : offset+length : offset+length]
		if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(entry[4:]) {
			return nil, fmt.Errorf("section %d is damaged: its checksum does not fit", i)
		}
		sections[kind] = body
		at = int(offset + length)
	}
	if at != len(data) {
		return nil, fmt.Errorf("%d bytes follow the last section", len(data)-at)
	}
	return sections, nil
}
