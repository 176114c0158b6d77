// A setup file of Vitest (vitest.config.ts): `SEKISHO_SEED=<seed>:<path>` repeats what a property found, as an `again:` line of
// `make test` says it. https://fast-check.dev/docs/configuration/global-settings
import fc from 'fast-check'
import { processEnvironment } from '../../../src/lib/config.ts'
import { defined } from '../../../src/lib/json/defined.ts'

const [, seed, path] = /^(-?\d+)(?::([\d:]+))?$/.exec(processEnvironment()['SEKISHO_SEED'] ?? '') ?? []
if (seed === undefined) throw new Error('SEKISHO_SEED must be <seed> or <seed>:<path>, as fast-check prints them')
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed), ...defined({ path }) })
