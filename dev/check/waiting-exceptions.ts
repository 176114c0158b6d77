// The files of tests in which time passes on purpose, each with its reason. A file that needs it no longer is refused, too.
import type { Rule } from './waiting-rules.ts'

export type Exception = { readonly path: string; readonly rules: readonly Rule[]; readonly reason: string }

const sleep = ['sleep'] as const

/** A path that ends with `/` means all files below it. */
export const exceptions: readonly Exception[] = [
  { path: 'test/bench/', rules: ['sleep', 'duration'], reason: 'durations are what it measures' },
  { path: 'test/soak/', rules: sleep, reason: 'it runs for a time, and plays people and faults at a pace' },
  { path: 'test/faults/', rules: ['duration'], reason: 'docs/reference/faults.md states how long the product takes' },
  { path: 'test/faults/api-server-faults.test.ts', rules: sleep, reason: 'the API server is away for a time' },
  { path: 'test/proxies/chaos-proxy/chaos-proxy.ts', rules: sleep, reason: 'the fault `slow` is a time' },
  { path: 'test/faults/clock-faults.test.ts', rules: sleep, reason: 'two holders of a lease are compared again and again' },
  { path: 'test/faults/database-roles.test.ts', rules: sleep, reason: 'a process appends at a pace' },
  { path: 'test/faults/leader-faults.test.ts', rules: sleep, reason: 'a leader that hangs must keep its lease for a time' },
  { path: 'test/faults/tenant-fairness.test.ts', rules: sleep, reason: 'plays answers that take a time' },
  { path: 'test/faults/unobserved-events.test.ts', rules: sleep, reason: 'the fault `late` is a time' },
  { path: 'test/faults/watch-faults.test.ts', rules: sleep, reason: 'plays writes at a pace' },
  { path: 'test/e2e/replicas.test.ts', rules: ['duration'], reason: 'the time without a leader is a promise; it runs alone' },
  { path: 'test/e2e/serving.ts', rules: sleep, reason: 'asks at a pace' },
  { path: 'test/e2e/stillness.ts', rules: sleep, reason: 'that nothing happens is watched for a time' },
  { path: 'test/attack/rolling-restart.test.ts', rules: sleep, reason: 'plays writers at a pace' },
  { path: 'test/integration/preview-invariant.test.ts', rules: sleep, reason: 'plays people, who act at any time' },
  { path: 'test/fixtures/service-endpoints.ts', rules: sleep, reason: 'plays the probes of a kubelet' },
  { path: 'test/server/main.ts', rules: sleep, reason: 'ends the test server after two idle hours' },
  { path: 'src/broker/routes/api/builds.test.ts', rules: sleep, reason: 'a follower shows nothing when it has begun to wait' },
  { path: 'src/services/builds/logs/collector.test.ts', rules: sleep, reason: 'that nothing is asked is watched for a time' },
  { path: 'src/controllers/remote-sync/testing/reconcile-once.ts', rules: sleep, reason: 'plays effects that take a time' },
  { path: 'src/kube/client/kube-client.test.ts', rules: sleep, reason: 'plays a server that sends at a pace' },
]
