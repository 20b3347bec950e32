package sqlserver

import (
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/nearest"
)

// settings holds what --set can change, all of the build's database.
type settings struct {
	mixedPages  bool  // MIXED_PAGE_ALLOCATION: small tables share extents, as before 2016
	growAll     *bool // AUTOGROW_ALL_FILES: all files of the filegroup grow at once. If nil, see growsAll
	logBytes    int64 // initial size of the log. 0 means by the layout's size
	logGrowth   int64
	keepBackups bool // backup files may stay on the server
}

const (
	kib          = 1 << 10
	mib          = 1 << 20
	extent       = 64 * kib // files are sized and grow in whole extents
	leastFile    = 8 * mib  // of model from 2016 on: the first file cannot be smaller
	leastFurther = mib      // of files in addition to the first
	// windowLog is for inserts for a time: each turn ends with a checkpoint, which frees it. More would only take
	// longer to be written full of zeros at each build.
	windowLog = 256 * mib
	logOf     = 4        // bytes of log to one of payload
	usualLog  = 64 * mib // least size of the log
	mostLog   = 8 << 30  // as published: 8 GB for 160 GB of data
	usualGrow = 64 * mib // growth of files in a new database from 2016 on
	leastLog  = mib
)

// The names of settings in facts.
const (
	settingMix = "mixed-page-allocation"
	settingAll = "autogrow-all-files"
)

// settable are the names of --set, in the order in which they are reported, and what reads
// their values.
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

// readSettings reads --set; an unknown one is refused: on an external server
// nothing except the build's database is ever set.
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

// growsAll reports whether files of a filegroup grow together: if one grows alone, it takes all that comes by
// proportional fill, and the layout is in effect one file. The article's databases grew file by file.
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

// logSize returns the initial size of the log, so that it does not grow while
// measured: under the simple recovery model a checkpoint frees it again.
// Inserts of a window fill more: half full, a checkpoint comes for the log's sake.
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

// The preallocated log of scenario dml's article, and the rows that it was for.
const publishedLog, publishedRows = 438 * mib, 350_000

// asPublished reports whether it is the article's experiment with single rows.
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
		return false, unsupported("use full or normal", "SQL Server cannot leave its log unwritten, so durability off is not to be had")
	}
	return false, usage("use full or normal", "durability %q is unknown", d)
}
