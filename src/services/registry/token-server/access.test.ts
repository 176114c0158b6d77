import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Holder } from '../credentials.ts'
import { parseScopes, repositoryActions } from '../repository.ts'
import { allowedAccess, isDisjoint, type RegistryLayout } from './access.ts'

const layout: RegistryLayout = { tenants: 'apps', platform: ['cnb', 'kpack'] }
const build: Holder = { purpose: 'build', namespace: 'acme' }
const pull: Holder = { purpose: 'pull', namespace: 'acme' }
const platform: Holder = { purpose: 'platform' }

/** What is granted, as scopes. */
function granted(holder: Holder, ...scopes: readonly string[]): readonly string[] {
  return allowedAccess(holder, parseScopes(scopes), layout).map(
    ({ type, name, actions }) => `${type}:${name}:${actions.join(',')}`,
  )
}

describe('access to the registry', () => {
  test.each<[string, Holder, string, readonly string[]]>([
    ['a build writes its own path', build, 'repository:apps/acme/shop:pull,push', ['repository:apps/acme/shop:pull,push']],
    [
      'a build replaces its cache',
      build,
      'repository:apps/acme/shop:push,pull,delete',
      ['repository:apps/acme/shop:push,pull,delete'],
    ],
    ['a build reads the builder', build, 'repository:cnb/builder:pull', ['repository:cnb/builder:pull']],
    ['a build cannot replace the builder', build, 'repository:cnb/builder:pull,push,delete', ['repository:cnb/builder:pull']],
    ['a build cannot read another tenant', build, 'repository:apps/globex/site:pull', []],
    ['a build cannot write another tenant', build, 'repository:apps/globex/site:push', []],
    ['a longer name is another tenant', build, 'repository:apps/acme-inc/shop:pull,push', []],
    ['a shorter name is another tenant', { purpose: 'build', namespace: 'acme-inc' }, 'repository:apps/acme/shop:pull', []],
    ['the path itself is not a repository', build, 'repository:apps/acme:pull,push', []],
    ['nor is the path of all tenants', build, 'repository:apps:pull,push', []],
    ['a tenant is not found at the root', build, 'repository:acme/shop:pull,push', []],
    ['pods read their own path', pull, 'repository:apps/acme/shop:pull', ['repository:apps/acme/shop:pull']],
    ['pods write nothing', pull, 'repository:apps/acme/shop:push,delete', []],
    ['pods get less than they ask for', pull, 'repository:apps/acme/shop:pull,push', ['repository:apps/acme/shop:pull']],
    ['pods do not read the builder', pull, 'repository:cnb/builder:pull', []],
    ['kpack writes the builder', platform, 'repository:cnb/builder:pull,push', ['repository:cnb/builder:pull,push']],
    ['kpack does not read tenants', platform, 'repository:apps/acme/shop:pull', []],
    ['nobody lists', platform, 'registry:catalog:*', []],
    ['a build does not list', build, 'registry:catalog:*', []],
    ['every action is named', build, 'repository:apps/acme/shop:*', []],
    ['steps upward', build, 'repository:apps/acme/../globex/site:pull', []],
    ['encoded slashes', build, 'repository:apps/acme%2f..%2fglobex:pull', []],
    ['upper case', build, 'repository:apps/ACME/shop:pull', []],
    ['an empty part', build, 'repository:apps/acme//shop:pull', []],
    ['a port in the name', build, 'repository:other:5000/apps/acme/shop:pull', []],
    ['a class of resources', build, 'repository(plugin):apps/acme/shop:pull', []],
    ['a line break', build, 'repository:apps/acme/shop\n:pull', []],
  ])('%s', (_what, holder, scope, expected) => {
    expect(granted(holder, scope)).toEqual(expected)
  })

  test('one request may ask for several, and gets those that are allowed', () => {
    const scopes = 'repository:apps/acme/shop:pull,push repository:apps/globex/site:pull'
    expect(granted(build, scopes, 'repository:cnb/run:pull')).toEqual([
      'repository:apps/acme/shop:pull,push',
      'repository:cnb/run:pull',
    ])
  })

  test('only so many scopes are read', () => {
    const many = Array.from({ length: 100 }, (_, index) => `repository:apps/acme/a${index}:pull`)
    expect(granted(build, many.join(' ')).length).toBe(20)
  })

  test('whatever is asked, what is granted is below the own path, or a pull of the platform', () => {
    const part = fc.constantFrom('apps', 'acme', 'acme-inc', 'globex', '..', '.', '', 'cnb', 'shop', '%2e%2e', 'ACME', 'acme/')
    const name = fc.array(part, { maxLength: 5 }).map(parts => parts.join('/'))
    const scope = fc
      .tuple(name, fc.subarray([...repositoryActions]))
      .map(([path, actions]) => `repository:${path}:${actions.join(',')}`)
    fc.assert(
      fc.property(fc.array(scope, { maxLength: 5 }), scopes => {
        for (const { name: path, actions } of allowedAccess(build, parseScopes(scopes), layout)) {
          const own = /^apps\/acme\/[a-z]/.test(path)
          const ofPlatform = /^cnb(\/[a-z-]+)*$/.test(path) && actions.every(action => action === 'pull')
          expect(own || ofPlatform).toBe(true)
        }
      }),
    )
  })
})

describe('a layout', () => {
  test.each<[RegistryLayout, boolean]>([
    [{ tenants: 'apps', platform: ['cnb', 'kpack'] }, true],
    [{ tenants: '', platform: [] }, true],
    [{ tenants: '', platform: ['cnb'] }, false],
    [{ tenants: 'apps', platform: ['apps/cnb'] }, false],
    [{ tenants: 'cnb/apps', platform: ['cnb'] }, false],
    [{ tenants: 'apps', platform: ['apps-cnb'] }, true],
  ])('%j keeps tenants apart from the platform: %s', (given, expected) => {
    expect(isDisjoint(given)).toBe(expected)
  })
})
