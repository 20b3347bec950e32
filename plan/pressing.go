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

// setPressing has inserts on a managed server go anywhere among more data than its cache
// holds, where that is usual there and the user says nothing of data, keys or work: else the
// log and the processors are what is measured, whatever files are worth.
func (m *maker) setPressing() error {
	o, d := m.o, m.About.Pressing
	said := o.Size.Given() || o.Preload.Given() || o.Key.Given() || o.RowBytes.Given() || o.Sharing.Given() ||
		o.Work.Given() || o.Window.Given() || o.WarmUp.Given() || o.Measure.Value != experiment.MeasureWorkload ||
		o.AddedLater.Given() || o.Allocation.Given() || o.Growth.Given() || o.Kind.Given() || o.Layouts.Given() || o.AsPublished.Value
	if !d.Usual || said || m.plan.Target.Mode != filewise.Managed || !slices.Contains(m.sc.Flags, "preload") {
		return nil
	}
	if d.Memory > 0 {
		if o.Memory.Given() || !memoryCanBeLimited() {
			return nil
		}
		if !o.Connections.Given() {
			o.Connections = Of(d.Connections)
		}
		further := max(o.Connections.Value-d.Connections, 0)
		o.Memory = Of(mebibytes(d.Memory + int64(further)*d.PerConnection))
	}
	o.Key, o.Size, o.Preload = Of(workload.KeyRandom), Of(mebibytes(d.Bytes)), Of(mebibytes(d.Preload))
	o.RowBytes = Of(strconv.Itoa(d.Row))
	if d.Files != nil && !o.Files.Given() {
		o.Files = Of(d.Files)
	}
	return nil
}

// memoryCanBeLimited tells whether a server's memory can be limited here; asked once, for
// what is tried is named by the process.
var memoryCanBeLimited = sync.OnceValue(func() bool {
	limits, err := machine.LimitMemory(1 << 30)
	return err == nil && limits.Close() == nil
})

func mebibytes(n int64) string { return fmt.Sprintf("%dMiB", n>>20) }

// PressingOptions are the options that say the same; empty: there is no such design.
func PressingOptions(d filewise.Pressing) string {
	if d.Preload == 0 {
		return ""
	}
	options := fmt.Sprintf("--key %s --size %s --preload %s --row-bytes %d",
		workload.KeyRandom, mebibytes(d.Bytes), mebibytes(d.Preload), d.Row)
	if d.Memory > 0 {
		options = fmt.Sprintf("--memory %s --connections %d %s", mebibytes(d.Memory), d.Connections, options)
	}
	return options
}
