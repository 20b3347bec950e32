package workload

// insertsScenario repeats Randal's experiment. Its default size is small enough
// to be preallocated in some milliseconds for every trial; its row is small
// enough for the commit, not the bytes, to be the work, as in single-row inserts.
func insertsScenario() Scenario {
	percent := func(x float64) *float64 { return &x }
	return Scenario{
		Name:  "inserts",
		Title: "Concurrent inserts, by number of data files",
		Summary: "Several connections insert rows at the same time, nothing else runs, and the total size of the data files is the same " +
			"in every layout. The question is whether more files take the rows faster. " +
			"Throughput is measured in rows per second, committed.",
		Source: Source{
			Author: "Paul Randal", Title: "Benchmarking: do multiple data files make a difference?",
			Where: "SQLskills", Year: 2010,
		},
		Files: []int{1, 2, 4, 8, 16},
		Bytes: 64 << 20,
		Params: Params{
			Connections: 16, RowBytes: 200, CommitEvery: 1, Table: TableShared, Key: KeySequential,
		},
		Best:  8,
		Timed: true,
		Published: []Figure{
			{Files: 2, Against: 1, Percent: percent(-3), Sign: -1,
				Words: "2 files on the one array: about 3 % slower than 1 file on it"},
			{Files: 8, Against: 1, Percent: percent(6), Sign: +1,
				Words: "8 files on two arrays: just over 6 % faster than 1 file on one array, " +
					"so more storage has its part in this figure; 8 files were the best in both tests"},
			{Files: 16, Against: 8, Sign: -1,
				Words: "16 files: slower again than 8, in both tests (published as a chart)"},
		},
		Notes: insertsNotes,
		Flags: []string{"window", "work", "warm-up", "row-bytes", "commit-every", "table", "key", "preload", "instances", "measure",
			"added-later", "p99-limit", "as-published", "scale"},
		New: NewInserts, Design: insertsDesign(),
	}
}

var insertsNotes = []string{
	"Published on SQL Server: 160 GB in the PRIMARY filegroup as 1×160, 2×80, 4×40, 8×20 and 16×10 GB, created at full size; " +
		"16 connections, each inserting 100/16 GB by code that runs on the server; the measure is the time of the whole test.",
	"Published design: each layout run 5 times, built anew between runs, the times averaged, with no interval. " +
		"Here the layouts are measured in random, interleaved order, and one trial is one sample.",
	"Published storage, test 1: RAID-10 of 8 × 300 GB 15k SCSI over two iSCSI NICs, 128 KB stripe. " +
		"Test 2: round-robin over two arrays of 4 such disks, one NIC each, so that one file there sits on half the drives: " +
		"the best cases of the two tests do not compare like with like. The log had an array of its own (8 × 1 TB 7.2k SATA RAID-10) and 8 GB " +
		"from the start.",
	"Published waits, 1 against 8 files, nearly identical: PAGELATCH_EX 38/39 %, PAGELATCH_SH 19/21 %, WRITELOG 12/13 %. " +
		"The author attributes the gain to the storage (checkpoint writes in parallel) and the optimum of 8 to the number of cores.",
	"The article publishes neither table nor key. Ours are ours: a BIGINT key and a text payload of a fixed length.",
	"A reader reports: a partitioned table was scanned with much higher throughput, with reads above 0.2 s.",
	"A reader reports: a 1 TB file split into 4 on two drives took twice as long for an analytics job.",
	"A reader presumes latching on allocation bitmaps as the cause.",
}
