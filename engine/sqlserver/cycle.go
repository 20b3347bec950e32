package sqlserver

import (
	"context"
	"time"

	"filewise"
	"filewise/engine/sqlserver/dialect"
)

// Cycle takes the build's database offline and online in one batch. The server itself brings it back and reports the
// times. Going offline is a clean shutdown with a checkpoint. Filewise's own sessions leave the database first, and no
// other session is thrown out.
func (b *build) Cycle(ctx context.Context) (offline, online time.Duration, err error) {
	if ctx.Err() != nil {
		return 0, 0, context.Cause(ctx)
	}
	if err := b.server.mayCool(b.design.program); err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), coolPatience)
	defer cancel()
	b.away()
	doing, back := "taking "+b.design.name+" offline and online", "ALTER DATABASE "+dialect.Ident(b.design.name)+" SET ONLINE"
	for _, x := range b.steps.Of("cycle") {
		err := b.server.persist(ctx, doing, back, func() error {
			r, err := one(ctx, b.server.control, x.Text)
			if err == nil {
				offline, online = time.Duration(r.Int("offline_us"))*time.Microsecond, time.Duration(r.Int("online_us"))*time.Microsecond
			}
			return err
		})
		if err != nil {
			return 0, 0, err
		}
	}
	return offline, online, b.steps.At(filewise.StageBuild).Of("keep").Run(ctx, b.do)
}
