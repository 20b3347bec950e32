package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/sqlitedriver"
)

// tellingOptions lists the compile options that can affect what is measured (compile.html). Other options are covered
// by the version.
var tellingOptions = []string{
	"ATOMIC_INTRINSICS", "DEFAULT_MEMSTATUS", "DEFAULT_MMAP_SIZE", "DEFAULT_PAGE_SIZE", "DEFAULT_SYNCHRONOUS",
	"DEFAULT_WAL_AUTOCHECKPOINT", "DEFAULT_WAL_SYNCHRONOUS", "ENABLE_SETLK_TIMEOUT", "MALLOC_SOFT_LIMIT",
	"MUTEX_PTHREADS", "SYSTEM_MALLOC", "TEMP_STORE", "THREADSAFE", "MAX_MMAP_SIZE", "MUTEX_NOOP",
}

// Facts returns SQLite's version and the settings in effect. It reads them from a file that it creates on the first
// volume and removes.
func (s *server) Facts(ctx context.Context) ([]filewise.Fact, error) {
	shape, err := settingsOf(s.target)
	if err != nil {
		return nil, err
	}
	facts, err := shape.tried(ctx, s.target.Volumes[0].Dir)
	if err != nil && ctx.Err() == nil { // an error of the storage, which can fail at any moment
		err = filewise.Errorf(filewise.CodePreflight, "check that the volume is mounted, writable, and has space",
			"trying SQLite out on volume %s: %w", s.target.Volumes[0].Name, err)
	}
	return facts, err
}

func (s *shape) tried(ctx context.Context, volume string) (_ []filewise.Fact, err error) {
	dir, err := os.MkdirTemp(volume, "facts-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, filesystem.Insist(func() error { return os.RemoveAll(dir) })) }()
	path := filepath.Join(dir, "facts.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return nil, err
	}
	c, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return s.facts(ctx, c)
}

func (s *shape) facts(ctx context.Context, c *conn) ([]filewise.Fact, error) {
	for _, section := range []string{"create", "connection"} {
		if err := c.section(ctx, s, section); err != nil {
			return nil, err
		}
	}
	about, err := c.query(ctx, "SELECT sqlite_version(), sqlite_source_id()")
	if err != nil {
		return nil, err
	}
	facts := []filewise.Fact{
		{Name: "engine", Value: fmt.Sprintf("SQLite %v", about[0][0])},
		{Name: "source id", Value: fmt.Sprint(about[0][1])},
		{Name: "driver", Value: sqlitedriver.Driver()},
	}
	for _, pragma := range []string{"journal_mode", "synchronous", "page_size", "wal_autocheckpoint", "cache_size", "mmap_size",
		"locking_mode"} {
		v, err := c.value(ctx, "PRAGMA "+pragma)
		if err != nil {
			return nil, err
		}
		text := fmt.Sprint(v)
		if pragma == "synchronous" {
			text = fmt.Sprintf("%v (%s)", v, s.synchronous)
		}
		facts = append(facts, filewise.Fact{Name: pragma, Value: text})
	}
	options, err := c.query(ctx, "PRAGMA compile_options")
	if err != nil {
		return nil, err
	}
	var telling []string
	for _, row := range options {
		name, _ := row[0].(string)
		key, _, _ := strings.Cut(name, "=")
		if slices.Contains(tellingOptions, key) {
			telling = append(telling, name)
		}
	}
	return append(facts,
		filewise.Fact{Name: "busy handling", Value: fmt.Sprintf(
			"SQLite's polling handler (pauses of 1 to 100 ms), restarted every %d ms until the lock is held", busyMillis)},
		filewise.Fact{Name: "compile options", Value: strings.Join(telling, " ")},
	), nil
}
