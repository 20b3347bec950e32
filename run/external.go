package run

import (
	"context"
	"fmt"
	"os"

	"filewise"
	"filewise/internal/limit"
)

// openExternal opens a server that others use too. It takes the measuring lock and makes every check before anything is
// built.
func (env *Environment) openExternal(ctx context.Context, login Login) error {
	if !env.Target.Elsewhere() { // the backups are written to this machine
		if err := env.makeScratch(env.label()); err != nil {
			return err
		}
	}
	if err := env.connect(ctx, login); err != nil {
		return err
	}
	server, ok := env.Server.(filewise.ExternalServer)
	if !ok {
		return filewise.Errorf(filewise.CodeInternal, "", "%s has no measuring lock for existing servers: %w",
			env.Engine.Name(), filewise.ErrUnsupported)
	}
	env.locked = &serverLock{target: env.Target, server: server,
		holder: filewise.Holder{Who: env.label() + ", " + WhoAmI(), Host: env.lock.Unique()}}
	if err := env.locked.take(ctx); err != nil {
		return env.unreachable(ctx, err)
	}
	env.undo = append(env.undo, env.locked.giveBack)
	if err := env.KnowGauges(ctx); err != nil {
		return err
	}
	env.findings = env.Examine(ctx)
	return Refused(env.Target, env.findings)
}

// connect opens an external server, which only reads.
func (env *Environment) connect(ctx context.Context, login Login) error {
	address, err := login(ctx)
	if err != nil {
		return err
	}
	env.Target.Address = &address
	if err = env.open(ctx); err != nil {
		return env.unreachable(ctx, filewise.HideIn(err, address.Hidden()...))
	}
	return nil
}

// unreachable returns the error for a server that could not be opened, unless the engine gives a better reason.
func (env *Environment) unreachable(ctx context.Context, err error) error {
	if filewise.CodeOf(err) != filewise.CodeInternal || ctx.Err() != nil {
		return err
	}
	return filewise.Errorf(filewise.CodePreflight,
		"check whether it runs there, and whether address, user, password and TLS options are right; "+
			"\"filewise doctor --target URL\" shows more once it answers",
		"%s cannot be opened: %w", env.Target.Address, err)
}

// WhoAmI returns the name under which others see this process as the holder of a server's lock.
func WhoAmI() string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	return fmt.Sprintf("process %d on %s", os.Getpid(), host)
}

// KnowGauges refuses the plan if it limits gauges that the server does not have.
func (env *Environment) KnowGauges(ctx context.Context) error {
	return env.knowGauges(ctx, env.Server, env.Target)
}

func (env *Environment) knowGauges(ctx context.Context, server filewise.Server, t filewise.Target) error {
	limits, err := limit.ParseAll(env.Plan.AbortIf)
	if err != nil || len(limits) == 0 {
		return err
	}
	external, ok := server.(filewise.ExternalServer)
	if !ok {
		return filewise.Errorf(filewise.CodePreflight, "leave --abort-if out", "what others do on %s cannot be watched: %w",
			env.Engine.Name(), filewise.ErrUnsupported)
	}
	gauges, err := activity(ctx, t, external)
	if err != nil {
		return filewise.Errorf(filewise.CodePreflight, "give the account the rights that \"filewise doctor --target URL\" names",
			"what others do on the server cannot be read: %w", err)
	}
	return limit.Known(limits, gauges)
}

// Look inspects a target, and gives up if the server does not answer.
func Look(ctx context.Context, t filewise.Target, look func(context.Context) (filewise.Inspection, error)) (filewise.Inspection, error) {
	if t.Address == nil {
		return look(ctx)
	}
	return within(ctx, lookPatience, t, "its files and what it counts", look, nil)
}
