package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"filewise"
	"filewise/fleet/drivers"
	"filewise/lab/experiment"
	"filewise/run"
)

// The times of drivers. A dead driver is noticed within driverWithin, and one that was never started within driverAway.
// A crew that is stopped waits at most stopDrivers for its drivers.
const (
	driverWithin = 5 * time.Second
	driverBeat   = time.Second
	driverAway   = 10 * time.Second
	stopDrivers  = 2 * driverWithin
	longestDrive = 48 * time.Hour
)

// Drivers returns a function that reaches the drivers of plans through Temporal at an address (see Dial). It serves as
// run.Options.Drivers.
func Drivers(address, version string) func(context.Context, experiment.Plan, filewise.Server) (experiment.Drivers, func(), error) {
	return func(ctx context.Context, p experiment.Plan, s filewise.Server) (experiment.Drivers, func(), error) {
		shared, err := drivers.SharerOf(s, p.Target)
		if err != nil {
			return nil, nil, err
		}
		c, err := Dial(ctx, address, nil)
		if err != nil {
			return nil, nil, err
		}
		crew := &drivers.Crew{Hosts: p.Drivers, Ask: c.drive, Server: shared, Clock: filewise.RealClock{}, Version: version,
			Run: rand.Text()}
		if err := crew.Greet(ctx, p); err != nil {
			defer c.Close()
			hosts, unknown := c.Hosts(ctx)
			if unknown == nil && errors.Is(err, errNoWorker) {
				err = withOthers(err, hosts, p.Drivers)
			}
			return nil, nil, err
		}
		return crew, func() { crew.Leave(context.WithoutCancel(ctx)); c.Close() }, nil
	}
}

// withOthers adds to the error for a missing driver the other hosts that could be drivers. Temporal may not have
// noticed a recent death.
func withOthers(err error, hosts []Present, named []string) error {
	hosts = slices.DeleteFunc(hosts, func(p Present) bool { return !p.Working || slices.Contains(named, p.Host) })
	if len(hosts) == 0 {
		return err
	}
	return fmt.Errorf("%w; other hosts have one: %s", err, most(filewise.Each(hosts, func(p Present) string { return p.Host })))
}

// drive sends an order to a driver, by a workflow of one step. It is a drivers.Ask.
func (c Campaigns) drive(ctx context.Context, host string, o drivers.Order) (a drivers.Answer, err error) {
	w, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "filewise-driver/" + host + "/" + rand.Text(), TaskQueue: queue,
		WorkflowExecutionTimeout: longestDrive}, typeDriver, host, o)
	if err != nil {
		return a, unreachable(err)
	}
	err = w.Get(ctx, &a)
	if ctx.Err() == nil {
		return a, asked(err)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopDrivers)
	defer cancel()
	return a, errors.Join(ctx.Err(), c.CancelWorkflow(end, w.GetID(), ""), asked(w.Get(end, &a)))
}

var errNoWorker = errors.New("no worker is there")

// asked returns the reason why a request did not reach a driver, for users.
func asked(err error) error {
	var late *temporal.TimeoutError
	switch {
	case err == nil || temporal.IsCanceledError(err):
		return nil
	case errors.As(err, &late) && late.TimeoutType() == enums.TIMEOUT_TYPE_HEARTBEAT:
		return errors.New("its worker has died, or its line")
	case errors.As(err, &late):
		return errNoWorker
	}
	return errors.New(cause(err))
}

// Driver is the workflow that has one host carry out a crew's request.
func Driver(ctx workflow.Context, host string, o drivers.Order) (a drivers.Answer, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queueOf(host), ScheduleToStartTimeout: driverAway, StartToCloseTimeout: longestDrive, HeartbeatTimeout: driverWithin,
		WaitForCancellation: true, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	return a, workflow.ExecuteActivity(ctx, actDrive, o).Get(ctx, &a)
}

const (
	typeDriver = "FilewiseDriver"
	actDrive   = "Drive"
)

// driver returns a Driver with the site's settings.
func (s Site) driver() *drivers.Driver {
	return &drivers.Driver{Version: s.Version, Hide: s.Hide, Clock: filewise.RealClock{},
		Open: func(ctx context.Context, t filewise.Target) (filewise.Server, error) {
			e, err := s.Engine(t.Engine)
			if err != nil {
				return nil, err
			}
			if t.Mode != filewise.External {
				return nil, filewise.Errorf(filewise.CodeUsage, "give --target URL", "a driver works on existing servers only")
			}
			env, err := run.LookAt(ctx, e, t, s.Login(t))
			if err != nil {
				return nil, err
			}
			return env.Server, nil
		}}
}

// Drive carries out a crew's request, with heartbeats.
func (b *bench) Drive(ctx context.Context, o drivers.Order) (drivers.Answer, error) {
	b.mu.Lock()
	busy := b.open != nil && !b.open.over()
	b.mu.Unlock()
	if busy && (o.Arm != nil || o.Greet != nil) {
		return drivers.Answer{}, temporal.NewNonRetryableApplicationError("the host measures for a campaign", string(filewise.CodeBusy), nil)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	token, to := activity.GetInfo(ctx).TaskToken, activity.GetClient(ctx)
	go beat(ctx, cancel, func(ctx context.Context) error { return to.RecordActivityHeartbeat(ctx, token) })
	return b.driver.Do(ctx, o), nil
}

// beat reports to Temporal that the driver lives until the context ends. It ends the driver's work if that is
// requested, or if no heartbeat has arrived for driverWithin. The SDK itself sends heartbeats 4 s apart.
func beat(ctx context.Context, end func(), tell func(context.Context) error) {
	each, heard := time.NewTicker(driverBeat), time.Now()
	defer each.Stop()
	for {
		select {
		case <-each.C:
			within, cancel := context.WithTimeout(ctx, 2*driverBeat)
			switch err := tell(within); {
			case err == nil:
				heard = time.Now()
			case !away(err) || time.Since(heard) > driverWithin:
				end()
			}
			cancel()
		case <-ctx.Done():
			return
		}
	}
}
