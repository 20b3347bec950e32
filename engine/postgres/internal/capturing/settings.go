package capturing

import (
	"context"
	"maps"

	"filewise"
	"filewise/engine/postgres/internal/client"
)

// Settings returns the settings that the database or its clients' roles change and on which statements depend.
func (w *watcher) Settings(context.Context, map[string]string) (map[string]string, error) {
	return w.settings, nil
}

// accustom reads these settings, and makes the sessions find tables where the clients' sessions do.
func (w *watcher) accustom(ctx context.Context, a filewise.Address) error {
	rows, err := w.link.Rows(ctx, queries.Text("settings"))
	if err != nil {
		return err
	}
	w.settings = map[string]string{}
	for _, row := range rows {
		w.settings[client.Text(row[0])] = client.Text(row[1])
	}
	path, is := w.settings["search_path"]
	if !is {
		return nil
	}
	settings := maps.Clone(client.ReadingSettings())
	settings["search_path"] = "pg_catalog, " + path
	l, err := client.Open(a, settings)
	if err != nil {
		return err
	}
	w.link.Close()
	w.link = l
	return nil
}
