package web

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"filewise/internal/browsertest"
	"filewise/results/report"
)

// campaigns are one of two hosts, of which one is lost.
func campaigns(context.Context) (Fleet, error) {
	percent, low, high := 6.0, 4.0, 8.0
	return Fleet{Jobs: []Job{
		{Campaign: "storage", Experiment: "inserts", Host: "db1", Condition: "running", Doing: "block 3 of at most 20, 4 files: measure",
			Trials: 11, Verdict: "4 files are best so far.", Layouts: []Estimate{{Layout: "4 files", Text: "+6.0 % (+4.0 … +8.0)", Mark: "best",
				Percent: &percent, Low: &low, High: &high}, {Layout: "2 files", Text: "—", Mark: "undecided"}}},
		{Campaign: "storage", Experiment: "inserts", Host: "db2", Condition: "lost", Trials: 12,
			Error: "its host has not answered for 1h0m0s; 10 of its trials have come home <img src=x onerror=pwned=1>"},
	}, Hosts: []Worker{{Host: "db1", Labels: []string{"storage=nvme"}, Working: true}, {Host: "db2"}}}, nil
}

// TestCampaignsOnThePage: hosts, what each is doing, estimates and failures; if Temporal is away the last state
// stays, with the reason.
func TestCampaignsOnThePage(t *testing.T) {
	var away atomic.Bool
	d := finished(t)
	s := opened(t, shelf{runs: []report.Data{d}, fleet: func(ctx context.Context) (Fleet, error) {
		if away.Load() {
			return Fleet{}, errors.New("Temporal does not answer")
		}
		return campaigns(ctx)
	}}, nil)
	b := browsertest.Open(t)
	browsertest.Run(t, b, chromedp.Navigate(s.URL()))
	for _, want := range []string{"!$('fleet').hidden", has("orders", "storage: inserts"),
		has("orders", "block 3 of at most 20, 4 files: measure"),
		has("orders", "4 files are best so far."), has("orders", "4 files: +6.0 % (+4.0 … +8.0) best"),
		has("orders", "10 of its trials have come home"),
		has("hosts", "storage=nvme"), "document.querySelectorAll('#hosts tbody tr').length === 2", "$('fleet-problem').hidden",
		"!('pwned' in window)", "!document.querySelector(`nav a[href='#fleet']`).hidden"} {
		sees(t, b, want)
	}
	view(t, b, "campaigns", 1180, "light")
	away.Store(true)
	s.fleet.mu.Lock()
	s.fleet.next = time.Time{}
	s.fleet.mu.Unlock()
	sees(t, b, has("fleet-problem", "Temporal does not answer")+" && "+has("orders", "storage: inserts"))
	if all := scraped(t, s); all["filewise_campaign_order_state"] != nil {
		t.Error("what is old is scraped as if it were new")
	}
	b.Quiet(t, s.URL())
}
