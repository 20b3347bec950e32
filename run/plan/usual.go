package plan

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"filewise"
	"filewise/host/machine"
	"filewise/lab/experiment"
	"filewise/lab/workload"
)

// setUsual applies the engine's usual design of a scenario on a server, unless the user sets data, keys or work. The
// design meets the conditions of meaning.
func (m *maker) setUsual() error {
	designs := m.About.Usual
	if m.plan.Target.Mode == filewise.External {
		designs = m.About.UsualThere
	}
	u, ok := designs[m.sc.Name]
	if u.RowsGrown > 0 && !m.o.AsPublished.Value && m.o.Allocation.Value == string(filewise.Growing) {
		m.setGrowing(u)
	}
	if n := u.RowsAFile * int64(m.mostFiles()); n > 0 && !m.o.AsPublished.Value {
		usual(&m.o.Rows, n)
	}
	m.sc.Params.IndexedFirst = m.sc.Params.IndexedFirst || u.IndexedFirst
	if !m.o.AsPublished.Value && !m.o.Memory.Given() { // which could hold the data
		m.sc.Params.Rescan = u.Rescan
	}
	if !ok || m.plan.Target.Mode == filewise.Embedded || m.designed() {
		return nil
	}
	o := m.o
	if u.Memory && (o.Memory.Given() || !memoryCanBeLimited()) {
		return nil
	}
	if u.Connections > 0 {
		usual(&o.Connections, max(u.Connections, perCore*cores(m.plan.Target)))
	}
	if u.Memory {
		o.Memory = Of(mebibytes(m.About.MemoryFor(o.Connections.Value)))
	}
	if u.Random {
		o.Key = Of(workload.KeyRandom)
	}
	if u.Apart {
		o.Sharing = Of(workload.TablePerConnection)
	}
	if u.Row > 0 {
		o.RowBytes = Of(strconv.Itoa(u.Row))
	}
	for to, bytes := range map[*Opt[string]]int64{&o.Size: u.Bytes, &o.Preload: u.Preload, &o.Work: u.Work} {
		if bytes > 0 {
			*to = Of(mebibytes(bytes))
			m.sized = m.sized || to == &o.Size
		}
	}
	if u.CommitEvery > 0 && !o.Rate.Given() { // rows that arrive at a rate are not collected
		usual(&o.CommitEvery, u.CommitEvery)
	}
	if u.Files != nil && !o.Layouts.Given() {
		usual(&o.Files, u.Files)
	}
	return nil
}

// Limits of dml if growing files take many rows. They are the article's.
const (
	manyRows       = 10_000
	selectsOfMany  = 10_000
	concurrentMany = 2_000
)

// setGrowing sets as many rows, and as small a step, as it takes for growing files to grow ten times. Many rows are found
// by an index, and only one process works on all of them.
func (m *maker) setGrowing(u filewise.Usual) {
	o := m.o
	if !o.layoutsSay("growth") {
		usual(&o.Growth, kibibytes(u.Step))
	}
	if o.Rows.Given() || o.Size.Given() {
		return
	}
	if o.Rows = Of(u.RowsGrown); u.BytesGrown > 0 {
		o.Size = Of(kibibytes(u.BytesGrown))
	}
	if u.RowsGrown > manyRows {
		usual(&o.Index, workload.IndexKey)
		m.sc.Params.Selects, m.sc.Params.Concurrent = selectsOfMany, concurrentMany
	}
}

// mostFiles returns the largest number of data files that is compared.
func (m *maker) mostFiles() int {
	files := slices.Clone(m.usualFiles())
	if m.o.Files.Given() {
		files = slices.Clone(m.o.Files.Value)
	}
	if slices.Contains(files, PerCore) {
		if n, err := m.countCores(); err == nil {
			files = append(files, n)
		}
	}
	for _, l := range m.o.Layouts.Value {
		for _, p := range l {
			if n, err := strconv.Atoi(p.Value); err == nil && p.Name == "files" {
				files = append(files, n)
			}
		}
	}
	return slices.Max(append(files, 1))
}

// usual sets an option that is not given.
func usual[T any](o *Opt[T], v T) {
	if !o.Given() {
		*o = Of(v)
	}
}

// perCore is the usual number of connections per core in scenarios where connections must contend for space.
const perCore = 2

// cores returns the number of cores of a target's machine. 0 means the target is not on this machine.
func cores(t filewise.Target) int {
	if t.Cores > 0 { // --cores of a managed server
		return t.Cores
	}
	if t.Mode == filewise.External && (t.Address == nil || !t.Address.Here()) {
		return 0
	}
	return runtime.NumCPU()
}

// setContention raises the number of connections so that they contend for space.
func (m *maker) setContention() {
	if m.o.Connections.Given() || m.o.AsPublished.Value || !slices.Contains(m.sc.Conditions(), filewise.CondContention) {
		return
	}
	m.plan.Params.Connections = max(m.plan.Params.Connections, perCore*cores(m.plan.Target))
}

// setReach refuses layouts with files that no row reaches.
func (m *maker) setReach() error {
	if !m.fixed() || m.o.AsPublished.Value || m.sc.Stripes || m.sc.Temp {
		return nil
	}
	scripts, err := Scripts(m.Engine, m.plan, m.work)
	if err != nil {
		scripts = nil // Prepare reports the reason
	}
	for i, s := range scripts {
		for _, w := range s.Warnings {
			if w.Code == filewise.NotReached {
				remedy := w.Remedy
				if _, otherwise, ok := strings.Cut(remedy, "; else "); ok {
					remedy = otherwise
				}
				return filewise.Errorf(filewise.CodeUsage, remedy, "%s cannot be compared with fewer files: %s", m.plan.Layouts[i].Name, w.Message)
			}
		}
	}
	return nil
}

// designed reports whether the user sets data, keys or work.
func (m *maker) designed() bool {
	o := m.o
	return o.Size.Given() || o.Preload.Given() || o.Key.Given() || o.RowBytes.Given() || o.Sharing.Given() ||
		o.Work.Given() || o.Window.Given() || o.WarmUp.Given() || o.Measure.Value != experiment.MeasureWorkload ||
		o.AddedLater.Given() || o.Allocation.Given() || o.Growth.Given() || o.Kind.Given() || o.AsPublished.Value ||
		o.layoutsSay("size", "kind", "allocation", "growth", "indexes")
}

// layoutsSay reports whether any --layout has one of the keys. Numbers of files, volumes and names do not concern the
// data.
func (o *LayoutOptions) layoutsSay(keys ...string) bool {
	return slices.ContainsFunc(o.Layouts.Value, func(spec LayoutSpec) bool {
		return slices.ContainsFunc(spec, func(p Pair) bool { return slices.Contains(keys, p.Name) })
	})
}

// memoryCanBeLimited reports whether a server's memory can be limited here. It tries only once per process, since the
// try is named after the process.
var memoryCanBeLimited = sync.OnceValue(func() bool {
	limits, err := machine.LimitMemory(1 << 30)
	return err == nil && limits.Close() == nil
})

func kibibytes(n int64) string { return fmt.Sprintf("%dKiB", n>>10) }

func mebibytes(n int64) string { return fmt.Sprintf("%dMiB", n>>20) }

// Limits of what pilots may change in a run.
const (
	mostWritten  = 8 << 30 // bytes of data that a run writes, unless the user sets it
	ladderMemory = 2       // times the least memory of a server: function calls take more than rows
	batchedOnLog = 100     // rows per transaction from which a run measures more than the log
)

// setLadder sets what pilots may change in the run. They change nothing that the user has given.
func (m *maker) setLadder() error {
	o, p := m.o, &m.plan
	if p.AsPublished != nil || p.Measure != experiment.MeasureWorkload || p.Target.Database != "" || p.Params.Custom != nil ||
		len(p.Drivers) > 0 || o.AddedLater.Given() || m.About.TempAsIs && m.sc.Temp {
		return nil
	}
	l := experiment.Ladder{MostBytes: mostWritten, Connections: !o.Connections.Given() && !o.Users.Given() &&
		slices.Contains(m.sc.Conditions(), filewise.CondContention)}
	takes := func(flag string) bool { return slices.Contains(m.sc.Flags, flag) }
	if takes("commit-every") && !o.CommitEvery.Given() && !o.Rate.Given() {
		l.CommitEvery = batchedOnLog
	}
	if p.Target.Mode == filewise.Managed && !o.Memory.Given() && m.About.FileCache && memoryCanBeLimited() {
		l.Memory, l.PerConnection = ladderMemory*m.About.LeastMemory, m.About.ConnectionMemory
	}
	sized := o.Size.Given() && !m.sized || o.layoutsSay("size")
	switch {
	case takes("warehouses") && !o.Warehouses.Given() && !sized:
		l.Data, l.Size = "warehouses", true
	case takes("rows") && !o.Rows.Given() && !sized && !m.sc.Temp:
		l.Data, l.Size = "rows", m.sc.Filling > 0
	}
	p.Ladder = &l
	return nil
}
