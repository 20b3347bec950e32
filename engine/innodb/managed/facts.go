package managed

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/server"
)

// readFacts reads the server's effective settings. Settings that this release lacks are absent.
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
	telling := append(dialect.Telling[:len(dialect.Telling):len(dialect.Telling)], "transaction_isolation", "tx_isolation")
	all := server.Settings{Telling: telling, Values: values, Scaled: scaled(i.design.Product), User: i.design.Target.Settings,
		Canonical: canonical}
	return append(facts, all.Facts()...)
}

// scaled lists the settings that follow a layout's size. The numbers are in each layout's option file, in its script.
func scaled(p *dialect.Product) []filewise.Fact {
	return []filewise.Fact{
		{Name: p.Managed.Redo, Value: fmt.Sprintf("1/4 of --size, %s to %s", humanize.IBytes(leastRedo), humanize.IBytes(mostRedo))},
		{Name: "innodb_buffer_pool_size", Value: fmt.Sprintf("1/4 of --size, %s to %s; for scan 1/%d of the data", humanize.IBytes(leastPool),
			humanize.IBytes(mostPool), dataPerPool)},
	}
}
