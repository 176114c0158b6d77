// The buildpack's configuration, also when it does not run under the lifecycle.
import { afterEach, expect, test, vi } from 'vitest'
import { readConfig } from './config.ts'

afterEach(() => vi.unstubAllEnvs())

test('the lifecycle sets the layers folder; npm gets a home and the certificate authorities', () => {
  vi.stubEnv('CNB_LAYERS_DIR', '/layers/x')
  vi.stubEnv('HOME', '')
  const config = readConfig()
  expect(config.layersFolder).toBe('/layers/x')
  expect(config.environment).toMatchObject({ HOME: '/tmp', NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt' })
})

test('without the lifecycle the missing variable is named', () => {
  vi.stubEnv('CNB_LAYERS_DIR', undefined)
  expect(() => readConfig()).toThrow('CNB_LAYERS_DIR')
})
