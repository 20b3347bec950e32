package filewise

import "fmt"

// Verify compares a build's data files with the requested ones: as many, the same paths (or objects, if the engine
// numbers its files) on the same volumes, and sizes within the allocation's rule. A preallocated file has exactly its
// size, held by the storage; a growing one starts with no more than its size. Once the files have been worked on,
// both may be larger. The error wraps ErrLayout.
func (l Layout) Verify(asked, found []File, worked bool) error {
	byPath, byObject := map[string]File{}, map[string]File{}
	n := 0
	for _, f := range found {
		if f.Role == RoleData {
			byPath[f.Path], byObject[f.Object] = f, f
			n++
		}
	}
	want := 0
	for _, a := range asked {
		if a.Role != RoleData {
			continue
		}
		want++
		f, ok := byPath[a.Path]
		if a.Object != "" {
			f, ok = byObject[a.Object]
		}
		if !ok {
			return fmt.Errorf("%w: there is no %s", ErrLayout, a.Path)
		}
		if f.Volume != a.Volume {
			return fmt.Errorf("%w: %s is on volume %s, not %s", ErrLayout, a.Path, f.Volume, a.Volume)
		}
		if err := l.verifySize(a, f, worked); err != nil {
			return err
		}
	}
	if err := verifyTemps(asked, found); err != nil {
		return err
	}
	if n != want {
		return fmt.Errorf("%w: %d data files, asked for %d", ErrLayout, n, want)
	}
	return nil
}

// verifyTemps compares the places of temporary files.
func verifyTemps(asked, found []File) error {
	there := map[string]string{}
	for _, f := range found {
		if f.Role == RoleTemp {
			there[f.Path] = f.Volume
		}
	}
	for _, a := range asked {
		if a.Role != RoleTemp {
			continue
		}
		if volume, ok := there[a.Path]; !ok || volume != a.Volume {
			return fmt.Errorf("%w: there is no %s on volume %s for temporary files", ErrLayout, a.Path, a.Volume)
		}
		delete(there, a.Path)
	}
	if len(there) > 0 {
		return fmt.Errorf("%w: %d temporary files more than asked for", ErrLayout, len(there))
	}
	return nil
}

func (l Layout) verifySize(asked, found File, worked bool) error {
	if found.EngineBytes != nil && *found.EngineBytes > found.Bytes && !worked {
		return fmt.Errorf("%w: %s has %d bytes, the engine claims %d", ErrLayout, found.Path, found.Bytes, *found.EngineBytes)
	}
	if l.Data.Allocation == Growing {
		if found.Bytes > asked.Bytes && !worked {
			return fmt.Errorf("%w: %s should grow from %d bytes and starts with %d", ErrLayout, found.Path, asked.Bytes, found.Bytes)
		}
		return nil
	}
	if found.Bytes < asked.Bytes || found.Bytes > asked.Bytes && !worked {
		return fmt.Errorf("%w: %s has %d bytes, asked for %d", ErrLayout, found.Path, found.Bytes, asked.Bytes)
	}
	if found.Allocated != nil && *found.Allocated < asked.Bytes {
		return fmt.Errorf("%w: %s has %d bytes, of which the storage holds only %d: the file system did not preallocate it",
			ErrLayout, found.Path, found.Bytes, *found.Allocated)
	}
	return nil
}
