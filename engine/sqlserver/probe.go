package sqlserver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"filewise"
)

// ask returns the rows of a section without variables, run in the build's database.
func (b *build) ask(ctx context.Context, section, what string) ([]row, error) {
	rows, err := askAll(ctx, b.inside, section, map[string]any{"Temporary": b.design.program.Table().Temporary})
	if err != nil {
		return nil, b.server.login.explain(fmt.Errorf("%s: %w", what, err))
	}
	return rows, nil
}

func (b *build) probes() []filewise.Probe {
	memory := &memory{build: b}
	return []filewise.Probe{newWaitProbe(b), filewise.ProbeOf(filewise.ProbeFiles, b.fileIO), filewise.ProbeOf(engineName, b.writing),
		filewise.ProbeOf(filewise.ProbeServerMemory, memory.read)}
}

// fileIO returns what the server counts of each file of the build (sys.dm_io_virtual_file_stats;
// cumulative since the database came about): requests, bytes and stalls, under the paths of Observe.
func (b *build) fileIO(ctx context.Context) ([]filewise.Counter, error) {
	rows, err := b.ask(ctx, "file-io", "I/O per file")
	if err != nil {
		return nil, err
	}
	d := b.design
	paths := map[string]string{}
	for _, f := range d.until(len(d.data)) {
		paths[f.Logical] = f.Path
	}
	var all []filewise.Counter
	for _, r := range rows {
		path := paths[r.Text("logical")]
		for _, c := range counted {
			if n, ok := r.Number(c.column); ok && path != "" {
				all = append(all, filewise.Counter{Name: c.name, Unit: c.unit, Value: float64(n) * c.factor, File: path})
			}
		}
	}
	return all, nil
}

var counted = []struct {
	column, name, unit string
	factor             float64
}{
	{"reads", filewise.FileReads, "requests", 1}, {"read_bytes", filewise.FileBytesRead, "B", 1},
	{"read_stall", filewise.FileReadTime, "s", 1e-3},
	{"writes", filewise.FileWrites, "requests", 1}, {"written_bytes", filewise.FileBytes, "B", 1},
	{"write_stall", filewise.FileWriteTime, "s", 1e-3},
}

var written = map[string]filewise.Counter{
	"Checkpoint pages/sec":        {Name: "checkpoint pages", Unit: "pages"},
	"Background writer pages/sec": {Name: "background writer pages", Unit: "pages"},
	"Lazy writes/sec":             {Name: "lazy writes", Unit: "pages"},
	"Log Flushes/sec":             {Name: "log flushes", Unit: "flushes"},
	"Log Bytes Flushed/sec":       {Name: "log bytes flushed", Unit: "B"},
}

// writing returns what the server's own tasks write, for which no session waits. These are pages written by
// checkpoints, background and lazy writer of the whole instance, and flushes of the build's log.
func (b *build) writing(ctx context.Context) ([]filewise.Counter, error) {
	rows, err := b.ask(ctx, "writing", "pages written in the background")
	if err != nil {
		return nil, err
	}
	var all []filewise.Counter
	for _, r := range rows {
		c, known := written[r.Text("name")]
		if n, ok := r.Number("value"); known && ok {
			c.Value = float64(n)
			all = append(all, c)
		}
	}
	return all, nil
}

// memory averages the memory that the server aims at, which holds its buffers.
type memory struct {
	build *build

	mu   sync.Mutex
	last time.Time
	sums [2]float64 // B·s and s
}

// read adds the server's present value for the time since the last reading.
func (p *memory) read(ctx context.Context) ([]filewise.Counter, error) {
	machine, err := ask(ctx, p.build.inside, "machine", nil)
	if err != nil {
		return nil, p.build.server.login.explain(fmt.Errorf("memory of the server: %w", err))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if target, ok := machine.Number("target_kb"); ok && !p.last.IsZero() {
		since := now.Sub(p.last).Seconds()
		p.sums[0], p.sums[1] = p.sums[0]+float64(target)*kib*since, p.sums[1]+since
	}
	p.last = now
	return []filewise.Counter{{Name: filewise.MemoryTotal, Unit: filewise.UnitSummed, Value: p.sums[0]},
		{Name: filewise.UnitLooked, Unit: filewise.UnitLooked, Value: p.sums[1]}}, nil
}

// checkpointsSince counts checkpoint cycles by the clock, as the number of elapsed target recovery times. Indirect
// checkpoints write a page within that time, and nothing reports when.
func checkpointsSince(begun time.Time) filewise.Probe {
	return filewise.ProbeOf(filewise.ProbeCheckpoints, func(context.Context) ([]filewise.Counter, error) {
		cycles := time.Since(begun).Seconds() / recoveryTime.Seconds()
		return []filewise.Counter{{Name: filewise.CheckpointCycles, Unit: "cycles", Value: cycles}}, nil
	})
}

// recoveryTime is the target recovery time that section options sets.
const recoveryTime = time.Minute
