package sqlite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise"
)

// Script says what one trial would create and execute, and executes nothing.
func (engine) Script(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Script, error) {
	s, err := newShape(t, l, p, 1)
	if err != nil {
		return filewise.Script{}, err
	}
	out := filewise.Script{Files: s.asked(), Space: s.space(), Warnings: s.warnings()}
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
		steps func(int) ([]filewise.Step, error)
	}{{built, built.buildSteps}, {s, s.extendSteps}, {s, s.settleSteps}, {s, s.workSteps}, {s, s.checkSteps}, {s, s.dropSteps}} {
		for i := range part.of.shards {
			steps, err := part.steps(i)
			if err != nil {
				return filewise.Script{}, err
			}
			out.Steps = append(out.Steps, steps...)
		}
	}
	return out, nil
}

// starved is what the WALs of a build may grow to together because checkpoints
// cannot keep pace: while other connections go on writing, a checkpoint does not
// reach the end of the WAL, which is then not begun anew (wal.html, "Avoiding
// Excessively Large WAL Files"). Measured on 2 cores, 16 connections, single-row
// commits: up to 320 MB in a second of synchronous=NORMAL, 20 MB a file at OFF,
// 4 MB a file at FULL, whose writers wait for the storage themselves.
var starved = map[string]int64{"FULL": 0, "NORMAL": 1 << 30, "OFF": 256 << 20}

// walBytes is what a WAL is expected to grow to: twice the pages after which
// SQLite checkpoints by itself, because writers go on meanwhile, its part of what
// starved checkpoints leave, and one transaction, which it holds whole (a page
// for each row with random keys, else the rows' bytes and a fifth).
func (s *shape) walBytes() int64 {
	rowPages := float64(s.program.OpBytes+16) / pageBytes * 1.2
	if s.program.Vars["Key"] == "random" {
		rowPages = max(rowPages, 1)
	}
	return walFrame*(2*s.checkpointPages()+2+int64(rowPages*float64(s.program.CommitEvery))) +
		starved[s.synchronous]/int64(len(s.shards))
}

// walFrame is a page in a WAL, with its header (fileformat2.html#walformat).
const walFrame = pageBytes + 24

// checkpointPages is after how many pages SQLite checkpoints by itself; never
// is taken for its default.
func (s *shape) checkpointPages() int64 {
	if s.autoCheckpoint > 0 {
		return int64(s.autoCheckpoint)
	}
	return autoCheckpoint
}

// logBytes is the size to which a WAL is written before the trial: what it holds
// at a checkpoint, and a quarter more for what is committed meanwhile; but over
// all files no more than maxLogs, or 1,000 files would write 5 GB of logs.
func (s *shape) logBytes() int64 {
	return min(walFrame*s.checkpointPages()*5/4, maxLogs/int64(len(s.shards))/pageBytes*pageBytes)
}

const maxLogs = 128 << 20

// space is the room that a volume needs: for each of its files the file's share
// of the layout's size, as if growing files grew to it, and the WAL. Work that
// outgrows a file takes what it inserts on top.
func (s *shape) space() map[string]int64 {
	need := map[string]int64{}
	shares := s.layout.Data.Sizes(pageBytes)
	for i, sh := range s.shards {
		need[sh.volume.Name] += max(shares[i], sh.bytes) + s.walBytes()
	}
	if s.rebuilds() { // the loaded file stands beside the new ones until they are full
		sh := s.first.shards[0]
		need[sh.volume.Name] += max(shares[0], sh.bytes) + s.first.walBytes()
	}
	s.backupSpace(need, shares)
	return need
}

// backupSpace adds a backup, and what is restored from it beside the data. Of the
// tables' payload SQLite makes 1.28 times as many bytes, measured.
func (s *shape) backupSpace(need map[string]int64, shares []int64) {
	if s.program.Workload != "backup" {
		return
	}
	l := s.layout
	payload := s.program.OpBytes / int64(len(s.shards))
	for i, sh := range s.shards {
		bytes := max(shares[i], sh.bytes, payload*13/10)
		need[l.Backup.VolumeOf(i, l.BackupVolumes(s.target.Volumes)).Name] += bytes
		need[sh.volume.Name] += bytes
	}
}

func (s *shape) buildSteps(i int) ([]filewise.Step, error) {
	l := lister{stage: filewise.StageBuild, on: s.shards[i].path}
	s.listCreate(&l, i)
	return l.steps, l.err
}

// listCreate lists how a file comes into being.
func (s *shape) listCreate(l *lister, i int) {
	sh := s.shards[i]
	l.note("create the file; it must not exist")
	l.section(s, "create")
	l.add("BEGIN")
	if s.program.Own != nil {
		l.addAll(s.ownSetup(i))
	}
	for _, table := range sh.tables {
		if s.program.Own != nil {
			break
		}
		l.addAll(s.sql.Statements("tables", vars(s.program, table)))
	}
	l.add("COMMIT")
	l.section(s, "empty")
	if s.layout.Data.Allocation != filewise.Growing {
		l.note(fmt.Sprintf("fallocate to %d bytes", sh.bytes))
	}
	l.note(fmt.Sprintf("write zeros to %s-wal up to %d bytes", sh.path, s.logBytes()))
	if sh.chunk > 0 {
		l.note(fmt.Sprintf("file control SQLITE_FCNTL_CHUNK_SIZE = %d bytes, on every connection", sh.chunk))
	}
}

func (s *shape) settleSteps(i int) ([]filewise.Step, error) {
	l := lister{stage: filewise.StageSettle, on: s.shards[i].path}
	l.section(s, "settle")
	l.note("fsync the file and its directory")
	return l.steps, l.err
}

// workSteps are one transaction of each table's connections.
func (s *shape) workSteps(i int) ([]filewise.Step, error) {
	if len(s.program.Phases) > 0 {
		return s.phaseSteps(i)
	}
	sh := s.shards[i]
	who := s.workersOf(i)
	if len(who) == 0 { // it takes no new rows
		return nil, nil
	}
	l := lister{stage: filewise.StageMeasure, on: sh.path}
	l.note("each of these connections by itself: " + numbers(who))
	l.section(s, "connection")
	if sh.chunk > 0 {
		l.note(fmt.Sprintf("file control SQLITE_FCNTL_CHUNK_SIZE = %d bytes", sh.chunk))
	}
	for k, table := range sh.tables {
		if s.perConnection {
			l.note("connection " + strconv.Itoa(who[k]) + ", again and again, a commit every " + strconv.Itoa(s.program.CommitEvery))
		} else {
			l.note(fmt.Sprintf("again and again, a commit every %d", s.program.CommitEvery))
		}
		l.section(s, "begin")
		insert, err := s.sql.Statement("insert", vars(s.program, table))
		if err != nil {
			return nil, err
		}
		l.add(insert + " -- for each row")
		l.section(s, "commit")
	}
	l.note("when a transaction is given up")
	l.section(s, "rollback")
	return l.steps, l.err
}

func (s *shape) checkSteps(i int) ([]filewise.Step, error) {
	switch {
	case s.program.Own != nil:
		return s.ownChecks(i)
	case s.program.Workload == ordersWorkload:
		return s.ordersChecks(i)
	}
	l := lister{stage: filewise.StageCheck, on: s.shards[i].path}
	for _, table := range s.shards[i].tables {
		l.addAll(s.sql.Statements("check", vars(s.program, table)))
	}
	return l.steps, l.err
}

func (s *shape) dropSteps(i int) ([]filewise.Step, error) {
	path := s.shards[i].path
	l := lister{stage: filewise.StageDrop, on: path}
	l.section(s, "close")
	l.note(fmt.Sprintf("close and remove %s, %s-wal, %s-shm", path, path, path))
	return l.steps, l.err
}

// workersOf are the connections that work on a file.
func (s *shape) workersOf(file int) []int {
	var workers []int
	for w := range s.program.Connections {
		if slices.Contains(s.filesOf(w), file) {
			workers = append(workers, w)
		}
	}
	return workers
}

func numbers(all []int) string {
	var words []string
	for _, n := range all {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, " ")
}

// lister collects the steps of one stage on one file, and the first error.
type lister struct {
	stage, on string
	steps     []filewise.Step
	err       error
}

func (l *lister) add(sql string) {
	l.steps = append(l.steps, filewise.Step{Stage: l.stage, On: l.on, SQL: sql})
}

func (l *lister) note(text string) { l.add("-- " + text) }

func (l *lister) addAll(statements []string, err error) {
	if err != nil && l.err == nil {
		l.err = err
	}
	for _, st := range statements {
		l.add(st)
	}
}

func (l *lister) section(s *shape, name string) {
	l.addAll(shardsSQL.Statements(name, s.connectionVars()))
}
