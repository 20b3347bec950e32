package notify

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"filewise"
)

// Time limit and number of tries.
const (
	answerWithin = 15 * time.Second // for one try
	attempts     = 3                // for one message at the end of a run
	pause        = time.Second      // before the second try; doubled before the third
)

// Send sends the message once. Errors contain no secret. Their text states the cause, but not the address.
func (a Address) Send(ctx context.Context, m Message) error {
	send := a.post
	if a.kind == mailKind {
		send = a.mail.send
	}
	return a.within(ctx, func(ctx context.Context) error { return send(ctx, m) })
}

// within runs do with the time limit of one try. If ctx ends, within returns without waiting for do: an SMTP
// conversation ends only by its own deadline.
func (a Address) within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("there is no answer in time")
	}
	return filewise.HideIn(err, a.secrets...)
}

// Notifier sends the events of one run to several addresses. Each address gets its messages one after the other. Only
// Queue is safe for concurrent use.
type Notifier struct {
	addresses []Address
	events    []Event

	mu      sync.Mutex
	waiting [][]Message // by address, oldest first
}

// New returns a notifier that sends the given events to the addresses.
func New(addresses []Address, events []Event) *Notifier {
	return &Notifier{addresses: addresses, events: events, waiting: make([][]Message, len(addresses))}
}

// Reports reports whether any address gets reports.
func (n *Notifier) Reports() bool { return slices.ContainsFunc(n.addresses, Address.Mail) }

// Try sends the message that the run starts, so that an address that does not work is found now. If the event started
// was not chosen, mail is checked without sending a message. Other services have no such check, so they get the
// message. The error has CodePreflight.
func (n *Notifier) Try(ctx context.Context, m Message) error {
	return n.each(func(i int) error {
		a := n.addresses[i]
		var err error
		if a.Mail() && !slices.Contains(n.events, Started) && m.Event == Started {
			err = a.within(ctx, a.mail.check)
		} else {
			err = a.Send(ctx, m)
		}
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		return filewise.Errorf(filewise.CodePreflight, "mend that URL, or leave --notify out", "no one can be notified at %s: %w", a, err)
	})
}

// Queue keeps a message for the next Deliver or Finish, if its event was chosen. It never waits.
func (n *Notifier) Queue(m Message) {
	if !slices.Contains(n.events, m.Event) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.waiting {
		n.waiting[i] = append(n.waiting[i], m)
	}
}

// Deliver tries once to send the queued messages. Messages that fail stay queued for Finish.
func (n *Notifier) Deliver(ctx context.Context) { _ = n.deliver(ctx, 1) }

// Finish sends the queued messages, with several tries. The errors name the addresses that did not get everything.
func (n *Notifier) Finish(ctx context.Context) error { return n.deliver(ctx, attempts) }

func (n *Notifier) deliver(ctx context.Context, tries int) error {
	return n.each(func(i int) error {
		for {
			n.mu.Lock()
			queue := n.waiting[i]
			n.mu.Unlock()
			if len(queue) == 0 {
				return nil
			}
			if err := n.addresses[i].sendUpTo(ctx, queue[0], tries); err != nil {
				return filewise.Errorf(filewise.CodeInternal, "filewise doctor --notify URL tries an address",
					"%s was not notified of “%s”: %w", n.addresses[i], queue[0].Title, err)
			}
			n.mu.Lock()
			n.waiting[i] = n.waiting[i][1:]
			n.mu.Unlock()
		}
	})
}

// sendUpTo tries to send a message several times. It stops if the service refuses for good.
func (a Address) sendUpTo(ctx context.Context, m Message, tries int) (err error) {
	for try := range tries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return err
			case <-time.After(pause << (try - 1)):
			}
		}
		if err = a.Send(ctx, m); err == nil || forGood(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// each calls send for all addresses concurrently, and joins their errors.
func (n *Notifier) each(send func(i int) error) error {
	errs := make([]error, len(n.addresses))
	var all sync.WaitGroup
	for i := range n.addresses {
		all.Go(func() { errs[i] = send(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}
