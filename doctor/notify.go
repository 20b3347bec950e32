package doctor

import (
	"context"
	"os"
	"time"

	"filewise"
	"filewise/notify"
)

// Notify sends a test message to every address.
func (d *Diagnosis) Notify(ctx context.Context, addresses []notify.Address, hide func(string) string) {
	host, _ := os.Hostname()
	for _, address := range addresses {
		found := filewise.Finding{Check: "notification", Status: filewise.StatusOK, Detail: address.String() + " has taken a test message"}
		err := address.Send(ctx, notify.Message{
			Event: notify.Test, Time: time.Now().UTC().Truncate(time.Second), Host: host, Version: d.Version,
			Title: "Filewise: a test message from " + host, Text: "This address works: filewise doctor --notify has tried it.",
		})
		if err != nil {
			found.Status, found.Detail = filewise.StatusFailed, address.String()+": "+hide(err.Error())
			found.Remedy = "mend the URL, or ask whoever runs that server"
		}
		d.Notifications = append(d.Notifications, found)
	}
}
