package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"filewise"
)

// synchronousNumber maps settings to what PRAGMA synchronous returns (pragma.html#pragma_synchronous).
var synchronousNumber = map[string]int64{"OFF": 0, "NORMAL": 1, "FULL": 2}

// Observe reads the files' state from SQLite and the file system. If it differs from the layout, Observe returns the
// files with an error that wraps filewise.ErrLayout.
func (d *database) Observe(ctx context.Context) ([]filewise.File, error) {
	found := make([][]filewise.File, len(d.files))
	err := d.eachShrunk(ctx, func(ctx context.Context, i int, f *file) error {
		data, err := d.observeData(ctx, f)
		if err != nil {
			return err
		}
		found[i] = append(found[i], data)
		info, err := os.Stat(f.path + "-wal")
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		found[i] = append(found[i], filewise.File{
			Role: filewise.RoleLog, Volume: f.volume.Name, Path: f.path + "-wal",
			Bytes: info.Size(), Allocated: allocated(f.path+"-wal", info),
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(found...)
	return all, d.layout.Verify(d.asked(), all, d.worked.Load())
}

func (d *database) observeData(ctx context.Context, f *file) (filewise.File, error) {
	var out filewise.File
	info, err := os.Stat(f.path)
	if err != nil {
		return out, fmt.Errorf("%w: %w", filewise.ErrLayout, err)
	}
	built, err := f.fd.Stat()
	if err != nil {
		return out, err
	}
	if !os.SameFile(built, info) {
		return out, fmt.Errorf("%w: %s is not the file that was built", filewise.ErrLayout, f.path)
	}
	opened, err := f.keeper.value(ctx, "SELECT file FROM pragma_database_list WHERE name = 'main'")
	if err != nil {
		return out, err
	}
	if path, _ := opened.(string); !sameFile(path, info) {
		return out, fmt.Errorf("%w: SQLite has %s open, not %s", filewise.ErrLayout, opened, f.path)
	}
	values := map[string]any{}
	for _, pragma := range []string{"page_count", "page_size", "journal_mode", "synchronous"} {
		if values[pragma], err = f.keeper.value(ctx, "PRAGMA "+pragma); err != nil {
			return out, err
		}
	}
	if mode, _ := values["journal_mode"].(string); !strings.EqualFold(mode, "wal") {
		return out, fmt.Errorf("%w: %s has journal mode %q, not WAL: the file system may lack shared memory", filewise.ErrLayout, f.path, mode)
	}
	if sync := values["synchronous"]; sync != synchronousNumber[d.synchronous] {
		return out, fmt.Errorf("%w: %s has synchronous %v, not %s", filewise.ErrLayout, f.path, sync, d.synchronous)
	}
	n, _ := values["page_count"].(int64)
	unit, _ := values["page_size"].(int64)
	engineBytes := n * unit
	return filewise.File{
		Role: filewise.RoleData, Volume: f.volume.Name, Path: f.path,
		Bytes: info.Size(), Allocated: allocated(f.path, info), EngineBytes: &engineBytes,
	}, nil
}

func sameFile(path string, info fs.FileInfo) bool {
	other, err := os.Stat(path)
	return err == nil && os.SameFile(other, info)
}

// asked returns the data files that the shape demands.
func (s *shape) asked() []filewise.File {
	files := make([]filewise.File, len(s.shards))
	for i, sh := range s.shards {
		files[i] = filewise.File{Role: filewise.RoleData, Volume: sh.volume.Name, Path: sh.path, Bytes: sh.bytes}
	}
	return files
}
