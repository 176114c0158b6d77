// The production manifest keeps exactly the packages that run.
import { expect, test } from 'vitest'
import { productionManifest } from './production-manifest.ts'

const manifest = {
  description: {
    name: 'x',
    scripts: { test: 'vitest' },
    dependencies: { fastify: '5.0.0' },
    devDependencies: { vitest: '5.0.0' },
  },
  lock: {
    lockfileVersion: 3,
    packages: {
      '': { name: 'x', dependencies: { fastify: '5.0.0' }, devDependencies: { vitest: '5.0.0' } },
      'node_modules/fastify': { version: '5.0.0', integrity: 'sha512-a' },
      'node_modules/vitest': { version: '5.0.0', dev: true },
      'node_modules/both': { version: '1.0.0', devOptional: true },
    },
  },
}

test('development packages are removed from both files and everything else stays as locked', () => {
  expect(productionManifest(manifest)).toEqual({
    description: { name: 'x', dependencies: { fastify: '5.0.0' } },
    lock: {
      lockfileVersion: 3,
      packages: {
        '': { name: 'x', dependencies: { fastify: '5.0.0' } },
        'node_modules/fastify': { version: '5.0.0', integrity: 'sha512-a' },
        'node_modules/both': { version: '1.0.0', devOptional: true },
      },
    },
  })
})
