package oracle

import (
	"time"

	"filewise"
)

// Engine implements filewise.Engine for Oracle Database.
type Engine struct{}

// Name returns the engine's name on the command line.
func (Engine) Name() string { return "oracle" }

// The usual port of a listener, and the oldest release that is known: it is the
// first with names of more than 30 bytes and with all views that are read.
const port = 1521

var oldest = [2]int{12, 2}

// Describe describes what the engine is.
func (Engine) Describe() filewise.Description {
	return filewise.Description{
		Page:  8192,
		Mode:  filewise.External,
		Files: "datafiles of a smallfile tablespace, or the one datafile of a bigfile tablespace",
		Kinds: []filewise.Kind{filewise.KindSmallfile, filewise.KindBigfile},
		NoKinds: map[filewise.Kind]string{filewise.KindPartitions: "on Oracle a partition is a segment of a tablespace, whose files it shares " +
			"with all else there: --files sets their number, and partitions change plans instead; some editions need a licence for them. A " +
			"set-up in a study can make them (PARTITION BY HASH … PARTITIONS n)"},
		RowBytes: 600,
		Budget:   10 * time.Minute,
		UsualThere: map[string]filewise.Usual{
			"inserts": {Connections: 32, Apart: true, Row: 3900, CommitEvery: 100, Bytes: 256 << 20, Work: 192 << 20},
			"dml":     {Step: 64 << 10, RowsGrown: 4000}, // 16 rows a block
			"scan":    {Bytes: 288 << 20, Files: []int{1, 40}},
		},
		PublishedOne: filewise.KindBigfile,
		OwnGrowth:    true,
		Cools:        true, Cycles: true,
		Note: "Oracle gives a table its space in extents, which it takes from the tablespace's files in turns (a table's first extents come " +
			"from one file); " +
			"a log, undo and buffer cache of the instance serve all files and all other work on it",
		Schemes: []string{"oracle"}, Port: port,
		ExternalKinds: []filewise.Kind{filewise.KindSmallfile, filewise.KindBigfile},
		Consents:      []string{consentStandby},
		Dumps:         dumpForm,
		Rights:        rightsOf("filewise"), Needs: needs(),
		Unproven: "checked against the vendor's grammar, not yet run against the product",
		Licence: "Oracle's licence forbids publishing benchmark results without Oracle's consent: results stay on this machine, " +
			"and a report that is given away needs that consent",
	}
}
