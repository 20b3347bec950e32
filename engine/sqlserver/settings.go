package sqlserver

import (
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/nearest"
)

// settings holds what --set can change, all of it in the build's database.
type settings struct {
	mixedPages  bool  // MIXED_PAGE_ALLOCATION: small tables share extents, as before 2016
	growAll     *bool // AUTOGROW_ALL_FILES: all files of the filegroup grow at once; if nil, see growsAll
	logBytes    int64 // initial size of the log; 0 means that it follows the layout's size
	logGrowth   int64
	keepBackups bool // backup files may stay on the server
}

const (
	kib          = 1 << 10
	mib          = 1 << 20
	extent       = 64 * kib // files are sized and grow in whole extents
	leastFile    = 8 * mib  // of model from 2016 on; the first file cannot be smaller
	leastFurther = mib      // of files after the first
	// windowLog is the log's size for inserts with a time limit. Each turn ends with a checkpoint, which frees the log. A
	// larger log would only take longer to fill with zeros at each build.
	windowLog = 256 * mib
	logOf     = 4        // bytes of log per byte of payload
	usualLog  = 64 * mib // minimum size of the log
	mostLog   = 8 << 30  // as published: 8 GB for 160 GB of data
	usualGrow = 64 * mib // growth of files in a new database from 2016 on
	leastLog  = mib
)

// The names of settings in facts.
const (
	settingMix = "mixed-page-allocation"
	settingAll = "autogrow-all-files"
)

// settable lists the names for --set in the order of reports, and the functions that read their values.
var settable = []struct {
	name string
	read func(s *settings, key, value string) error
}{
	{settingAll, func(s *settings, k, v string) error {
		on, err := onOff(k, v)
		s.growAll = &on
		return err
	}},
	{"log-growth", func(s *settings, k, v string) (err error) { s.logGrowth, err = size(k, v, extent); return err }},
	{"log-size", func(s *settings, k, v string) (err error) { s.logBytes, err = size(k, v, leastLog); return err }},
	{settingMix, func(s *settings, k, v string) (err error) { s.mixedPages, err = onOff(k, v); return err }},
	{"keep-backups", func(s *settings, k, v string) (err error) { s.keepBackups, err = onOff(k, v); return err }},
}

// readSettings reads --set and refuses unknown names. On an external server only the build's database is ever changed.
func readSettings(given map[string]string) (settings, error) {
	s := settings{logGrowth: usualGrow}
	var known []string
	for _, x := range settable {
		known = append(known, x.name)
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		i := slices.Index(known, strings.ReplaceAll(strings.ToLower(key), "_", "-"))
		if i < 0 {
			return s, usage(nearest.Remedy(key, known)+"; settings of the server itself are never changed",
				"--set %s is not known on sqlserver", key)
		}
		if err := settable[i].read(&s, key, given[key]); err != nil {
			return s, err
		}
	}
	return s, nil
}

// growsAll reports whether the files of a filegroup grow together. If one grows alone, it gets all new rows by
// proportional fill, and the layout becomes one file in effect. The article's databases grew file by file.
func (s settings) growsAll(p filewise.Program) bool {
	if s.growAll != nil {
		return *s.growAll
	}
	return !asPublished(p)
}

func onOff(key, value string) (bool, error) {
	switch strings.ToLower(value) {
	case "on", "true", "1":
		return true, nil
	case "off", "false", "0":
		return false, nil
	}
	return false, usage("use on or off", "--set %s=%s is neither on nor off", key, value)
}

func size(key, value string, least uint64) (int64, error) {
	n, err := humanize.ParseBytes(value)
	if err != nil || n < least || n > 1<<50 {
		return 0, usage("give a size such as 64MiB, at least "+humanize.IBytes(least), "--set %s=%s is no size that a file can have", key, value)
	}
	return int64(n) / extent * extent, nil
}

// logSize returns the initial size of the log, so that the log does not grow while measured. Under the simple recovery
// model a checkpoint frees it again. Inserts with a time limit fill more: when the log is half full, it forces a
// checkpoint.
func (s settings) logSize(data int64, growing bool, p filewise.Program) int64 {
	least := int64(usualLog)
	switch {
	case s.logBytes > 0:
		return s.logBytes
	case asPublished(p) && growing:
		return leastLog
	case asPublished(p):
		return max(publishedLog*p.Tables[0].Rows/publishedRows/extent*extent, leastLog)
	case p.Appends() && p.WorkBytes == 0:
		least = windowLog
	case p.Appends():
		least = max(least, logOf*p.WorkBytes)
	}
	return min(max(data/4, least), mostLog) / extent * extent
}

// publishedLog is the preallocated log in the article of scenario dml, and publishedRows the number of rows that it was
// for.
const publishedLog, publishedRows = 438 * mib, 350_000

// asPublished reports whether the program is the article's experiment with single rows.
func asPublished(p filewise.Program) bool {
	published, _ := p.Vars()["Published"].(bool)
	return published
}

// delayed reports whether commits can return before they are on the storage.
func delayed(d filewise.Durability) (bool, error) {
	switch d {
	case filewise.DurabilityFull, "":
		return false, nil
	case filewise.DurabilityNormal:
		return true, nil
	case filewise.DurabilityOff:
		return false, unsupported("use full or normal", "SQL Server always writes its log, so durability off is not possible")
	}
	return false, usage("use full or normal", "durability %q is unknown", d)
}
