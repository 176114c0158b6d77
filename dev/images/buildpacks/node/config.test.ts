// Whether the buildpack says what is missing when something else than the lifecycle runs it.
import { afterEach, expect, test, vi } from 'vitest'
import { readConfig } from './config.ts'

afterEach(() => vi.unstubAllEnvs())

test('the layers folder comes from the lifecycle, and npm gets a home and the certificate authorities', () => {
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
