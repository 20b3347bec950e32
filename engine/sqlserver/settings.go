package sqlserver

import (
	"maps"
	"slices"
	"strconv"
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
	backup      transfer // options of workload backup
	keepBackups bool     // backup files may stay on the server
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

	settingCompression = "backup-compression"
	settingBuffers     = "backup-buffer-count"
	settingTransfer    = "backup-max-transfer-size"
	settingBlock       = "backup-block-size"
	settingKeep        = "keep-backups"
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
		case settingCompression:
			s.backup.compression = "off"
			if on, wrong := onOff(key, value); wrong != nil {
				err = wrong
			} else if on {
				s.backup.compression = "on"
			}
		case settingBuffers:
			s.backup.bufferCount, err = count(key, value)
		case settingTransfer:
			s.backup.maxTransferSize, err = bytesOf(key, value)
		case settingBlock:
			s.backup.blockSize, err = bytesOf(key, value)
		case settingKeep:
			s.keepBackups, err = onOff(key, value)
		default:
			err = usage(nearest.Remedy(key, knownSettings)+
				"; settings of the server itself are never changed", "--set %s is not known on sqlserver", key)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

var knownSettings = []string{settingAll, settingGro, settingLog, settingMix, settingCompression, settingBuffers, settingTransfer, settingBlock, settingKeep}

func count(key, value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maxMemory {
		return 0, usage("give a whole number of at least 1", "--set %s=%s is no number of buffers", key, value)
	}
	return n, nil
}

// bytesOf is a size of at most 4 MiB; transfer.check knows which ones there are.
func bytesOf(key, value string) (int, error) {
	n, err := humanize.ParseBytes(value)
	if err != nil || n < 1 || n > 4*mib {
		return 0, usage("give a size such as 64KiB, up to 4MiB", "--set %s=%s is no size of a buffer or block", key, value)
	}
	return int(n), nil
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
