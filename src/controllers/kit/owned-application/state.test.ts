// The state of an owned Application whose owner names the image; previews, which are built, are in app-pipeline and
// test/integration.
import { expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import { standingOf } from './state.ts'

const options = { noun: 'workspace', isBuilt: false }
const lastTransitionTime = '2026-01-01T12:00:00Z'

function app(ready?: { readonly status: 'True' | 'False'; readonly reason: string }, deletionTimestamp?: string): Application {
  const conditions =
    ready === undefined ? [] : [{ type: 'Ready', message: 'm', lastTransitionTime, observedGeneration: 1, ...ready }]
  const metadata = { name: 'x', namespace: 'acme', ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) }
  return { apiVersion: 'v', kind: 'Application', metadata, spec: { chart: 'web' }, status: { conditions } }
}

test.each<[string, Application | undefined, string, string]>([
  ['that does not exist yet', undefined, 'Waiting', 'Preparing'],
  ['that nobody has looked at', app(), 'Waiting', 'Preparing'],
  ['that rolls out', app({ status: 'False', reason: 'RollingOut' }), 'Building', 'RollingOut'],
  ['that crashes', app({ status: 'False', reason: 'CrashLooping' }), 'Failed', 'CrashLooping'],
  ['that is ready', app({ status: 'True', reason: 'Ready' }), 'Running', 'Running'],
  ['that is being deleted', app({ status: 'True', reason: 'Ready' }, lastTransitionTime), 'Removing', 'Removing'],
])('an Application %s', (_what, application, state, reason) => {
  expect(standingOf({ application, remoteSync: undefined }, options)).toMatchObject({ state, reason })
})
