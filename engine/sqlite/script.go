package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/internal/script"
)

// Statements describes what one trial would create and execute, and executes nothing.
func (engine) Statements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	s, err := newShape(t, l, p, 1)
	if err != nil {
		return filewise.Statements{}, err
	}
	out := filewise.Statements{Files: s.asked(), Space: s.space(), Warnings: s.warnings()}
	for i, sh := range s.shards {
		log := s.logBytes()
		if i < s.from {
			log = s.first.logBytes()
		}
		out.Files = append(out.Files, filewise.File{Role: filewise.RoleLog, Volume: sh.volume.Name, Path: sh.path + "-wal", Bytes: log})
	}
	built := s
	if s.first != nil {
		built = s.first
	}
	for _, part := range []struct {
		of    *shape
		steps func(int) (script.Steps, error)
	}{{built, built.buildSteps}, {s, s.extendSteps}, {built, built.loadSteps}, {s, s.settleSteps}, {s, s.workSteps}, {s, s.checkSteps},
		{s, s.dropSteps}} {
		for i := range part.of.shards {
			steps, err := part.steps(i)
			if err != nil {
				return filewise.Statements{}, err
			}
			out.Steps = append(out.Steps, steps.Plan(nil)...)
		}
	}
	return out, nil
}

// starved is how large the WALs of a build can grow together if checkpoints cannot keep pace. While other connections
// write, a checkpoint does not reach the end of the WAL, so the WAL is not restarted (wal.html, "Avoiding Excessively
// Large WAL Files"). Measured on 2 cores with 16 connections and single-row commits: up to 320 MB in a second of
// synchronous=NORMAL. At OFF it was 20 MB a file; at FULL, whose writers wait for the storage themselves, 4 MB a file.
var starved = map[string]int64{"FULL": 0, "NORMAL": 1 << 30, "OFF": 256 << 20}

// walBytes returns the expected size of a WAL, the sum of three parts. The first is twice the pages after which SQLite
// checkpoints by itself, because writers go on meanwhile. The second is the WAL's share of starved. The third is one
// transaction, which the WAL holds whole: a page for each row with random keys, else the rows' bytes and a fifth.
func (s *shape) walBytes() int64 {
	rowPages := float64(s.program.First().OpBytes+16) / pageBytes * 1.2
	if s.program.Table().RandomKeys {
		rowPages = max(rowPages, 1)
	}
	return walFrame*(2*s.checkpointPages()+2+int64(rowPages*float64(s.program.First().CommitEvery))) +
		starved[s.synchronous]/int64(len(s.shards))
}

// walFrame is the size of a page in a WAL, with its header (fileformat2.html#walformat).
const walFrame = pageBytes + 24

// checkpointPages is after how many pages SQLite checkpoints by itself; never
// is taken for its default.
func (s *shape) checkpointPages() int64 {
	if s.autoCheckpoint > 0 {
		return int64(s.autoCheckpoint)
	}
	return autoCheckpoint
}

// logBytes returns the size to which a WAL is filled before the trial. It is what the WAL holds at a checkpoint, and a
// quarter more for commits meanwhile. Over all files it is at most maxLogs, because 1,000 files would write 5 GB of
// logs.
func (s *shape) logBytes() int64 {
	return min(walFrame*s.checkpointPages()*5/4, maxLogs/int64(len(s.shards))/pageBytes*pageBytes)
}

const maxLogs = 128 << 20

// space returns the space that a volume needs. For each of its files that is the file's share of the layout's size,
// even if the file grows to it, and the WAL. Work that outgrows a file adds what it inserts.
func (s *shape) space() map[string]int64 {
	need := map[string]int64{}
	shares := s.layout.Data.Sizes(pageBytes)
	for i, sh := range s.shards {
		need[sh.volume.Name] += max(shares[i], sh.bytes) + s.walBytes()
	}
	if s.rebuilds() { // the loaded file exists next to the new ones until they are full
		sh := s.first.shards[0]
		need[sh.volume.Name] += max(shares[0], sh.bytes) + s.first.walBytes()
	}
	s.backupSpace(need, shares)
	return need
}

// backupSpace adds the space of a backup and of the copy that is restored from it next to the data. SQLite needs 1.28
// times the payload of the tables, as measured.
func (s *shape) backupSpace(need map[string]int64, shares []int64) {
	if !s.program.BacksUp() {
		return
	}
	l := s.layout
	payload := int64(0)
	for _, p := range s.program.Phases {
		payload = max(payload, p.OpBytes/int64(len(s.shards)))
	}
	for i, sh := range s.shards {
		bytes := max(shares[i], sh.bytes, payload*13/10)
		need[l.BackupVolumeOf(i, s.target.Volumes).Name] += bytes
		need[sh.volume.Name] += bytes
	}
}

// buildSteps returns the steps that create file i. Build executes them, and carries out the actions that their notes
// describe.
func (s *shape) buildSteps(i int) (script.Steps, error) {
	l := s.lister(filewise.StageBuild, i)
	s.listCreate(l, i)
	return l.Steps()
}

// listCreate lists the steps that create a file.
func (s *shape) listCreate(l *lister, i int) {
	sh := s.shards[i]
	l.note("create the file; it must not exist")
	l.section("create")
	l.add("BEGIN")
	if s.program.Custom != nil {
		s.listSetup(l, i)
	} else {
		for _, table := range sh.tables {
			l.addAll(s.sql.Statements("tables", vars(s.program, table)))
			if s.program.Table().IndexedFirst {
				l.addAll(s.sql.Statements("indexes", vars(s.program, table)))
			}
		}
	}
	if s.program.Loads() {
		l.add(loadedTable)
	}
	l.add("COMMIT")
	l.section("empty")
	if s.layout.Data.Allocation != filewise.Growing {
		l.note(fmt.Sprintf("fallocate to %d bytes", sh.bytes))
	}
	l.note(fmt.Sprintf("write zeros to %s-wal up to %d bytes", sh.path, s.logBytes()))
	if sh.chunk > 0 {
		l.note(fmt.Sprintf("file control SQLITE_FCNTL_CHUNK_SIZE = %d bytes, on every connection", sh.chunk))
	}
}

// loadSteps returns the steps that end a load of tables. Finish executes them.
func (s *shape) loadSteps(i int) (script.Steps, error) {
	if !s.program.Loads() {
		return nil, nil
	}
	l := s.lister(filewise.StageLoad, i)
	l.note("inserts of many rows, the batch noted in fw_loaded in the same transaction; then")
	for _, table := range s.shards[i].tables {
		if !s.program.Table().IndexedFirst {
			l.addAll(s.sql.Statements("indexes", vars(s.program, table)))
		}
		l.add("ANALYZE " + ident(table))
	}
	return l.Steps()
}

func (s *shape) settleSteps(i int) (script.Steps, error) {
	l := s.lister(filewise.StageSettle, i)
	l.section("settle")
	l.note("fsync the file and its directory")
	return l.Steps()
}

// workSteps returns one transaction of each table's connections.
func (s *shape) workSteps(i int) (script.Steps, error) {
	if !s.program.Appends() {
		return s.phaseSteps(i)
	}
	sh := s.shards[i]
	who := s.workersOf(i)
	if len(who) == 0 { // the file takes no new rows
		return nil, nil
	}
	l := s.lister(filewise.StageMeasure, i)
	l.note("each of these connections by itself: " + numbers(who))
	l.section("connection")
	if sh.chunk > 0 {
		l.note(fmt.Sprintf("file control SQLITE_FCNTL_CHUNK_SIZE = %d bytes", sh.chunk))
	}
	for k, table := range sh.tables {
		if s.perConnection {
			l.note("connection " + strconv.Itoa(who[k]) + ", again and again, a commit every " + strconv.Itoa(s.program.First().CommitEvery))
		} else {
			l.note(fmt.Sprintf("again and again, a commit every %d", s.program.First().CommitEvery))
		}
		l.section("begin")
		insert, err := s.sql.Statement("insert", vars(s.program, table))
		if err != nil {
			return nil, err
		}
		l.add(insert + " -- for each row")
		l.section("commit")
	}
	l.note("when a transaction is given up")
	l.section("rollback")
	return l.Steps()
}

func (s *shape) checkSteps(i int) (script.Steps, error) {
	switch {
	case s.program.Custom != nil:
		return s.customChecks(i)
	case s.divided():
		return s.ordersChecks(i)
	}
	l := s.lister(filewise.StageCheck, i)
	for _, table := range s.shards[i].tables {
		l.addAll(s.sql.Statements("check", vars(s.program, table)))
	}
	return l.Steps()
}

func (s *shape) dropSteps(i int) (script.Steps, error) {
	path := s.shards[i].path
	l := s.lister(filewise.StageDrop, i)
	l.section("close")
	l.note(fmt.Sprintf("close and remove %s, %s-wal, %s-shm", path, path, path))
	return l.Steps()
}

// workersOf returns the connections that work on a file.
func (s *shape) workersOf(file int) []int {
	var workers []int
	for w := range s.program.Connections() {
		if slices.Contains(s.filesOf(w), file) {
			workers = append(workers, w)
		}
	}
	return workers
}

func numbers(all []int) string {
	words := filewise.Each(all, strconv.Itoa)
	return strings.Join(words, " ")
}

// lister collects the steps of one stage on one file.
type lister struct {
	*script.Writer
	s         *shape
	stage, on string
}

func (s *shape) lister(stage string, i int) *lister {
	return &lister{script.NewWriter(s.shards[i].path, nil), s, stage, s.shards[i].path}
}

func (l *lister) add(sql string) { l.Add(l.stage, l.on, sql) }

// noted is the section of steps that are not SQL.
const noted = "note"

func (l *lister) note(text string) { l.Rendered(l.stage, l.on, noted, []string{"-- " + text}, nil) }

func (l *lister) addAll(statements []string, err error) { l.AddAll(l.stage, l.on, statements, err) }

func (l *lister) section(name string) {
	l.addAll(shardsSQL.Statements(name, l.s.connectionVars()))
}

// do executes a step and ignores its rows.
func (c *conn) do(ctx context.Context, x script.Step) error {
	if x.Section == noted {
		return nil
	}
	_, err := c.query(ctx, x.Text)
	return err
}
