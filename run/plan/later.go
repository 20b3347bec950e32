package plan

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
)

// usualLater is the default number of files after adding.
const usualLater = 4

// laterAll lists both layouts that add files.
const laterAll = string(filewise.LaterNewData) + "," + string(filewise.LaterRebuilt)

// laterArms reads --added-later.
func (m *maker) laterArms() (newData, rebuilt bool, err error) {
	given := m.o.AddedLater.Value
	if given == "true" { // a variable may set this
		given = laterAll
	}
	for part := range strings.SplitSeq(given, ",") {
		arm, err := Choice("added-later", strings.TrimSpace(part), filewise.LaterNewData, filewise.LaterRebuilt, filewise.LaterUntouched)
		if err != nil {
			return false, false, err
		}
		newData, rebuilt = newData || arm == filewise.LaterNewData, rebuilt || arm == filewise.LaterRebuilt
	}
	if !newData && !rebuilt {
		return false, false, BadValue("added-later", given, "untouched is always there: give new-data, rebuilt, or nothing for both")
	}
	return newData, rebuilt, nil
}

// later returns the layouts for files that are added to a loaded database. The baseline is the database as it was. In
// the others, only new data use the added files, or the data are spread over all files.
func (m *maker) later(base filewise.Layout, files []int) ([]filewise.Layout, error) {
	if !m.o.Preload.Given() {
		return nil, filewise.Errorf(filewise.CodeUsage, "add --preload SIZE: what the database holds before files are added",
			"--added-later compares loaded databases")
	}
	preload, err := bytesOf("preload", m.o.Preload.Value)
	if err != nil {
		return nil, err
	}
	newData, rebuilt, err := m.laterArms()
	if err != nil {
		return nil, err
	}
	add := func(out []filewise.Layout, n int, later filewise.AddedLater, words string) []filewise.Layout {
		l := base
		l.Data.Files, l.AddedLater, l.Rank = n, later, len(out)+1
		l.Name = filewise.FilesName(n) + ", " + words
		return append(out, l)
	}
	out := add(nil, 1, filewise.LaterUntouched, "untouched")
	for _, n := range files {
		if n == 1 {
			continue // one file is the untouched layout
		}
		if first := base.Data.Bytes / int64(n); preload >= first {
			return nil, BadValue("preload", m.o.Preload.Value, fmt.Sprintf(
				"it is loaded before files are added, and the first of %d files has %s: make --size larger", n, humanize.IBytes(uint64(first))))
		}
		if newData {
			out = add(out, n, filewise.LaterNewData, "new data")
		}
		if rebuilt {
			out = add(out, n, filewise.LaterRebuilt, "rebuilt")
		}
	}
	if len(out) == 1 {
		return nil, BadValue("files", "1", "give the number of files after adding, such as 4")
	}
	return out, nil
}
