package plan

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"filewise"
	"filewise/experiment"
	"filewise/machine"
	"filewise/workload"
)

// setUsual gives a scenario on a managed server the engine's usual design of it, if the user says
// nothing of data, keys or work: one whose conditions of meaning hold.
func (m *maker) setUsual() error {
	u, ok := m.About.Usual[m.sc.Name]
	if !ok || m.plan.Target.Mode != filewise.Managed || m.designed() {
		return nil
	}
	o := m.o
	if u.Memory {
		if o.Memory.Given() || !memoryCanBeLimited() {
			return nil
		}
		if !o.Connections.Given() {
			o.Connections = Of(u.Connections)
		}
		o.Memory = Of(mebibytes(m.About.MemoryFor(o.Connections.Value)))
	}
	if u.Random {
		o.Key = Of(workload.KeyRandom)
	}
	if u.Bytes > 0 {
		o.Size = Of(mebibytes(u.Bytes))
	}
	if u.Preload > 0 {
		o.Preload = Of(mebibytes(u.Preload))
	}
	if u.Row > 0 {
		o.RowBytes = Of(strconv.Itoa(u.Row))
	}
	if u.Files != nil && !o.Files.Given() {
		o.Files = Of(u.Files)
	}
	return nil
}

// designed reports whether the user says something of data, keys or work.
func (m *maker) designed() bool {
	o := m.o
	return o.Size.Given() || o.Preload.Given() || o.Key.Given() || o.RowBytes.Given() || o.Sharing.Given() ||
		o.Work.Given() || o.Window.Given() || o.WarmUp.Given() || o.Measure.Value != experiment.MeasureWorkload ||
		o.AddedLater.Given() || o.Allocation.Given() || o.Growth.Given() || o.Kind.Given() || o.Layouts.Given() || o.AsPublished.Value
}

// memoryCanBeLimited tells whether a server's memory can be limited here; asked once, for
// what is tried is named by the process.
var memoryCanBeLimited = sync.OnceValue(func() bool {
	limits, err := machine.LimitMemory(1 << 30)
	return err == nil && limits.Close() == nil
})

func mebibytes(n int64) string { return fmt.Sprintf("%dMiB", n>>20) }

// Bounds of what a run's ladder may come to.
const (
	mostWritten  = 8 << 30 // bytes of data that a run writes, unless the user says how much there is
	ladderMemory = 2       // times the least in which a server works: calls of functions take more than rows
	batchedOnLog = 100     // rows of a transaction from which the log is not all that is measured
)

// setLadder says what pilots may have the run change: nothing that the user has given.
func (m *maker) setLadder() error {
	o, p := m.o, &m.plan
	if p.AsPublished != nil || p.Measure != experiment.MeasureWorkload || p.Target.Database != "" || p.Params.Custom != nil ||
		len(p.Drivers) > 0 || o.AddedLater.Given() || m.About.TempAsIs && m.sc.Temp {
		return nil
	}
	l := experiment.Ladder{MostBytes: mostWritten, Connections: !o.Connections.Given() && !o.Users.Given()}
	takes := func(flag string) bool { return slices.Contains(m.sc.Flags, flag) }
	if takes("commit-every") && !o.CommitEvery.Given() {
		l.CommitEvery = batchedOnLog
	}
	if p.Target.Mode == filewise.Managed && !o.Memory.Given() && m.About.FileCache && memoryCanBeLimited() {
		l.Memory, l.PerConnection = ladderMemory*m.About.LeastMemory, m.About.ConnectionMemory
	}
	switch {
	case takes("warehouses") && !o.Warehouses.Given() && !o.Size.Given() && !o.Layouts.Given():
		l.Data, l.Size = "warehouses", true
	case takes("rows") && !o.Rows.Given() && !o.Size.Given() && !o.Layouts.Given() && !m.sc.Temp:
		l.Data, l.Size = "rows", m.sc.Filling > 0
	}
	p.Ladder = &l
	return nil
}
