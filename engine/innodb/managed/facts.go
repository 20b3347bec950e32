package managed

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// readFacts asks the server for its effective settings. What this release does
// not have is absent.
func (i *instance) readFacts(ctx context.Context) ([]filewise.Fact, error) {
	p, control, err := i.running()
	if err != nil {
		return nil, err
	}
	values, err := dialect.Variables(ctx, control)
	if err != nil {
		return nil, i.why(p, err)
	}
	return i.tell(values), nil
}

func (i *instance) tell(values map[string]string) []filewise.Fact {
	facts := []filewise.Fact{{Name: "server", Value: fmt.Sprintf("managed, started by Filewise from %s", i.install.Binary)}}
	if i.design.binlog() {
		facts = append(facts, filewise.Fact{Name: "durability full", Value: i.design.Product.Managed.FullNote})
	}
	set := map[string]bool{}
	for name := range i.design.Target.Settings {
		set[canonical(name)] = true
	}
	for _, name := range append(dialect.Telling[:len(dialect.Telling):len(dialect.Telling)], "transaction_isolation", "tx_isolation") {
		if v, ok := values[name]; ok && !set[name] {
			facts = append(facts, filewise.Fact{Name: name, Value: v})
		}
	}
	for _, f := range scaled(i.design.Product) {
		if !set[f.Name] {
			facts = append(facts, f)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(i.design.Target.Settings)) {
		effective, ok := values[canonical(name)]
		if !ok {
			effective = i.design.Target.Settings[name]
		}
		facts = append(facts, filewise.Fact{Name: name + " (--set)", Value: effective})
	}
	return facts
}

// scaled are the settings that follow a layout's size; the option file of each
// layout, in its script, has the figures.
func scaled(p *dialect.Product) []filewise.Fact {
	return []filewise.Fact{
		{Name: p.Managed.Redo, Value: fmt.Sprintf("1/4 of --size, %s to %s", humanize.IBytes(leastRedo), humanize.IBytes(mostRedo))},
		{Name: "innodb_buffer_pool_size", Value: fmt.Sprintf("1/4 of --size, %s to %s; for scan 1/%d of the data", humanize.IBytes(leastPool),
			humanize.IBytes(mostPool), dataPerPool)},
	}
}
