package sqlserver

import (
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/nearest"
)

// settings are what --set can change, all of the build's own database.
type settings struct {
	mixedPages  bool  // MIXED_PAGE_ALLOCATION: small tables share extents, as before 2016
	autogrowAll bool  // AUTOGROW_ALL_FILES: all files of the filegroup grow at once
	logBytes    int64 // initial size of the log; 0: by the layout's size
	logGrowth   int64
}

const (
	kib        = 1 << 10
	mib        = 1 << 20
	extent     = 64 * kib // files are sized and grow in whole extents
	leastFile  = 8 * mib  // of model from 2016 on: the first file cannot be smaller
	usualLog   = 64 * mib // least size of the log
	mostLog    = 8 << 30  // as published: 8 GB for 160 GB of data
	usualGrow  = 64 * mib // growth of files in a new database from 2016 on
	leastLog   = mib
	settingMix = "mixed-page-allocation"
	settingAll = "autogrow-all-files"
	settingLog = "log-size"
	settingGro = "log-growth"
)

// readSettings reads --set; an unknown one is refused: on an external server
// nothing but the own database is ever set.
func readSettings(given map[string]string) (settings, error) {
	s := settings{logGrowth: usualGrow}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		var err error
		value := given[key]
		switch strings.ReplaceAll(strings.ToLower(key), "_", "-") {
		case settingMix:
			s.mixedPages, err = onOff(key, value)
		case settingAll:
			s.autogrowAll, err = onOff(key, value)
		case settingLog:
			s.logBytes, err = size(key, value, leastLog)
		case settingGro:
			s.logGrowth, err = size(key, value, extent)
		default:
			err = usage(nearest.Remedy(key, []string{settingAll, settingGro, settingLog, settingMix})+
				"; settings of the server itself are never changed", "--set %s is not known on sqlserver", key)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
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

// logSize is the initial size of the log, so that it does not grow while
// measured: under the simple recovery model a checkpoint frees it again.
func (s settings) logSize(data int64) int64 {
	if s.logBytes > 0 {
		return s.logBytes
	}
	return min(max(data/4, usualLog), mostLog) / extent * extent
}

// delayed tells whether commits may return before they are on the storage.
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
