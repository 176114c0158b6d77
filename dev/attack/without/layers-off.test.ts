// A layer is switched off on the local cluster only.
import { expect, test } from 'vitest'
import { readClusterSettings } from '../../cluster/settings.ts'
import { requireLocalCluster } from './layers-off.ts'

const settingsOf = (environment: Readonly<Record<string, string>>, root = true) => readClusterSettings(environment, { root })

test('the cluster of a user keeps its walls, and without pods there is nothing to attack', () => {
  expect(() => requireLocalCluster(settingsOf({ HOME: '/root' }))).not.toThrow()
  expect(() => requireLocalCluster(settingsOf({ HOME: '/root', KUBECONFIG: '/root/.kube/config' }))).toThrow('unset KUBECONFIG')
  expect(() => requireLocalCluster(settingsOf({ HOME: '/root' }, false))).toThrow('which runs as root')
})
