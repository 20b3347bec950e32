package web

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// Fleet holds the state of the campaigns on many hosts.
type Fleet struct {
	Jobs    []Job    `json:"orders"`
	Hosts   []Worker `json:"hosts"`
	Problem string   `json:"problem,omitempty"` // why there is nothing newer
}

// Job is one experiment of a campaign on one host.
type Job struct {
	Campaign   string     `json:"campaign"`
	Experiment string     `json:"experiment"`
	Host       string     `json:"host"`
	Condition  string     `json:"condition"`
	Doing      string     `json:"doing,omitempty"`
	Trials     int        `json:"trials"`
	Uncounted  int        `json:"beside,omitempty"` // number of Trials that are pilots or failed
	Verdict    string     `json:"verdict,omitempty"`
	Error      string     `json:"error,omitempty"`
	Layouts    []Estimate `json:"layouts,omitempty"`
}

// Estimate is a layout's difference from the baseline so far. Unknown numbers are absent.
type Estimate struct {
	Layout  string   `json:"layout"`
	Text    string   `json:"difference"`
	Mark    string   `json:"mark"`
	Percent *float64 `json:"difference_percent,omitempty"`
	Low     *float64 `json:"difference_low,omitempty"`
	High    *float64 `json:"difference_high,omitempty"`
}

// Worker is a host that runs measurements for campaigns.
type Worker struct {
	Host    string   `json:"host"`
	Labels  []string `json:"labels"`
	Working bool     `json:"working"`
}

// The state of campaigns is read again after fleetEvery, but reading takes at most a tenth of the time: there may be a
// thousand hosts.
const (
	fleetEvery  = 5 * time.Second
	fleetWithin = time.Minute
)

// fleetWatch reads the state of campaigns while a page is open. The page does not wait for it.
type fleetWatch struct {
	ask func(context.Context) (Fleet, error) // nil means there are no campaigns

	mu     sync.Mutex
	next   time.Time
	cancel context.CancelFunc // not nil during a request
	known  *knownFleet
}

// knownFleet is a state of the campaigns that has been read. It does not change.
type knownFleet struct {
	Fleet
	body []byte // as JSON
}

// now returns the latest known state, and starts a request if a new one is due. Nil means no state is known yet.
func (w *fleetWatch) now() *knownFleet {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ask != nil && w.cancel == nil && time.Now().After(w.next) {
		ctx, cancel := context.WithTimeout(context.Background(), fleetWithin)
		w.cancel = cancel
		go w.hear(ctx, w.ask)
	}
	return w.known
}

func (w *fleetWatch) hear(ctx context.Context, ask func(context.Context) (Fleet, error)) {
	began := time.Now()
	f, err := ask(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel()
	w.cancel = nil
	if err != nil {
		if w.known != nil {
			f = w.known.Fleet
		}
		f.Problem = explained(err)
	}
	if body, err := json.Marshal(f); err == nil {
		w.known = &knownFleet{f, body}
	}
	w.next = time.Now().Add(max(fleetEvery, 10*time.Since(began)))
}

// close cancels the current request, and prevents further ones.
func (w *fleetWatch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ask = nil
	if w.cancel != nil {
		w.cancel()
	}
}

// The labels of a job, and of one of its layouts.
var (
	orderLabels    = []string{"campaign", "experiment", "host"}
	ofOrderLayouts = append(append([]string(nil), orderLabels...), "layout")
)

// The metrics of campaigns.
var (
	metricJob = newMetric("campaign_order_state", "1 for the state of a job: waiting, running, paused, done, stopped, failed or lost.",
		orderLabels, "state")
	metricJobTrials = newMetric("campaign_order_trials", "Trials that a job's host has stored, pilots and failed ones included.",
		orderLabels)
	metricJobEstimate = newMetric("campaign_difference_ratio", "Estimated difference from the baseline on a host: 0.06 is 6 % more.",
		ofOrderLayouts)
	metricJobLow  = newMetric("campaign_difference_low_ratio", "Lower limit of the difference's interval.", ofOrderLayouts)
	metricJobHigh = newMetric("campaign_difference_high_ratio", "Upper limit of the difference's interval.", ofOrderLayouts)
	metricWorking = newMetric("campaign_host_working", "1 when the host's worker has asked for work in the last minutes, else 0.", nil,
		"host")
)

// ofFleet adds the metrics of campaigns. If the state is outdated, it adds none.
func (s scrape) ofFleet(f *knownFleet) {
	if f == nil || f.Problem != "" {
		return
	}
	for _, o := range f.Jobs {
		job := []string{o.Campaign, o.Experiment, o.Host}
		s.gauge(metricJob, 1, append(job, o.Condition)...)
		s.gauge(metricJobTrials, float64(o.Trials), job...)
		for _, l := range o.Layouts {
			for m, percent := range map[*metric]*float64{metricJobEstimate: l.Percent, metricJobLow: l.Low, metricJobHigh: l.High} {
				if percent != nil {
					s.gauge(m, *percent/100, append(job[:3:3], l.Layout)...)
				}
			}
		}
	}
	for _, h := range f.Hosts {
		working := 0.0
		if h.Working {
			working = 1
		}
		s.gauge(metricWorking, working, h.Host)
	}
}
