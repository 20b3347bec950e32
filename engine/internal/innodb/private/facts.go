package private

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/dustin/go-humanize"

	"filewise"
)

// readFacts asks the server for its effective settings. What this release does
// not have is absent.
func (i *instance) readFacts(ctx context.Context) ([]filewise.Fact, error) {
	p, control, err := i.running()
	if err != nil {
		return nil, err
	}
	values, err := Variables(ctx, control)
	if err != nil {
		return nil, i.why(p, err)
	}
	return i.tell(values), nil
}

func (i *instance) tell(values map[string]string) []filewise.Fact {
	facts := []filewise.Fact{{Name: "server", Value: fmt.Sprintf("private, started by Filewise from %s", i.install.Binary)}}
	if i.design.binlog() {
		facts = append(facts, filewise.Fact{Name: "durability full", Value: i.design.product.FullNote})
	}
	set := map[string]bool{}
	for name := range i.design.target.Settings {
		set[canonical(name)] = true
	}
	for _, name := range i.design.product.Telling {
		if v, ok := values[name]; ok && !set[name] {
			facts = append(facts, filewise.Fact{Name: name, Value: v})
		}
	}
	for _, f := range i.design.product.scaled() {
		if !set[f.Name] {
			facts = append(facts, f)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(i.design.target.Settings)) {
		effective, ok := values[canonical(name)]
		if !ok {
			effective = i.design.target.Settings[name]
		}
		facts = append(facts, filewise.Fact{Name: name + " (--set)", Value: effective})
	}
	return facts
}

// scaled are the settings that follow a layout's size; the option file of each
// layout, in its script, has the figures.
func (p *Product) scaled() []filewise.Fact {
	return []filewise.Fact{
		{Name: p.Options.Redo, Value: fmt.Sprintf("1/4 of --size, %s to %s", humanize.IBytes(leastRedo), humanize.IBytes(mostRedo))},
		{Name: "innodb_buffer_pool_size", Value: fmt.Sprintf("1/4 of --size, %s to %s; for scan 1/%d of the data", humanize.IBytes(leastPool), humanize.IBytes(mostPool), dataPerPool)},
	}
}
