// Bench `reconcile`: our Application controller compared with a minimal controller-runtime program on a real API server, and
// its steady state.
import type { Bench, Goal, OpenBench, Summary } from '../harness/bench.ts'
import { ensureGoPeer } from '../harness/go-peer.ts'
import { allOf, anyOf, figureAtMost, oursAtLeast, ratioAtLeast } from '../harness/goals.ts'
import { figureNames } from '../harness/summarize.ts'
import { coldStart, coldStartFigures } from './cold-start.ts'
import { startFixture } from './fixture.ts'
import { createSameWork } from './observed/made-objects.ts'
import { ourProgram } from './our-program.ts'
import { serverAlone } from './server-alone.ts'
import { steadyFigures, steadyState } from './steady-state.ts'

const applications = 1000
const steadyApplications = 2000

/** Most of the machine is used by the API server and its store: a faster controller would change nothing. */
const serverIsTheLimit: Goal<Summary> = {
  text: 'the API server and etcd are the limit (they use ≥ 60 % of all processors)',
  evaluate({ figures }) {
    const share = figures[coldStartFigures.serversShare]?.ours ?? Number.NaN
    return { met: share >= 0.6, value: `${(share * 100).toFixed(0)} %` }
  },
}

export const reconcile: Bench = {
  name: 'reconcile',
  title: `${applications.toLocaleString('en-US')} Applications at once until every child exists; then rest with 10,000 cached objects`,
  budgetSeconds: 1500,
  longBudgetSeconds: 2100,
  async open({ note, scale, long }): Promise<OpenBench> {
    const peer = { name: 'controller-runtime program', path: await ensureGoPeer('reconcile-go', note) }
    const fixture = await startFixture(note)
    const count = Math.max(10, Math.round(applications * scale))
    const sameWork = createSameWork()
    return {
      comparisons: [
        {
          name: 'cold start',
          title: `${count.toLocaleString('en-US')} Applications, each a Release, a Deployment, a Service, an Ingress, a status and an Event, on both sides`,
          unit: 'Applications',
          peerName: 'minimal controller-runtime program in Go',
          ours: signal => coldStart(fixture, { program: ourProgram, count, made: made => sameWork('ours', made) }, signal),
          peer: signal =>
            coldStart(
              fixture,
              { program: peer, count, command: { concurrency: 10 }, made: made => sameWork('peer', made) },
              signal,
            ),
          goals: [anyOf([oursAtLeast(figureNames.rate, 50), allOf([serverIsTheLimit, ratioAtLeast(figureNames.rate, 1)])])],
        },
      ],
      measurements: [
        {
          name: 'API server alone',
          title: `the writes of ${count.toLocaleString('en-US')} Applications by bare keep-alive connections: no controller, no cache, no watch`,
          run: signal => serverAlone(fixture, count, signal),
          goals: [],
        },
        {
          name: 'steady state',
          title: 'the controller on a cluster where all is done',
          run: signal =>
            steadyState(
              fixture,
              { applications: Math.max(10, Math.round(steadyApplications * scale)), watchedSeconds: long ? 600 : 60, note },
              signal,
            ),
          goals: [steadyFigures.writes, steadyFigures.served, steadyFigures.failures]
            .map(name => figureAtMost(name, 0))
            .concat(figureAtMost(steadyFigures.heap, 2)),
        },
      ],
      close: fixture.close,
    }
  },
}
