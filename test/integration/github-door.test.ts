// The doors against the GitHub emulator with both formats of installation tokens: what a tenant's token can reach and what ends it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setSuspended } from '../../dev/github/actions/install-app.ts'
import { type RunningEmulator, startEmulator } from '../../dev/github/emulator.ts'
import { installedSite } from './github-site.ts'

describe.each(['short', 'stateless'] as const)('with %s tokens', installationTokenFormat => {
  let github: RunningEmulator
  beforeAll(async () => {
    github = await startEmulator({ installationTokenFormat })
  })
  afterAll(() => github?.stop())

  test('the App knows itself and its installation, and nothing of another', async () => {
    const { door, installation } = installedSite(github)
    await expect(door.app()).resolves.toMatchObject({ id: github.app.id, slug: github.app.slug })
    await expect(door.installation(installation.id)).resolves.toMatchObject({
      appId: github.app.id,
      account: { id: 2001, login: 'acme', type: 'Organization' },
      suspendedAt: undefined,
    })
    await expect(door.installation(999_999)).resolves.toBeUndefined()
  })

  test('a token for one repository reads that one, and no other of the organisation', async () => {
    const { door, installation, repositoryDoor } = installedSite(github)
    const minted = await door.mint({ installationId: installation.id, repositoryIds: [4001], permissions: { contents: 'read' } })
    expect(minted.repositoryIds).toEqual([4001])
    expect(minted.permissions).toMatchObject({ contents: 'read' })
    expect(minted.token.length).toBeGreaterThan(installationTokenFormat === 'short' ? 39 : 300)
    const doorWithToken = repositoryDoor(minted.token)
    await expect(doorWithToken.repository(4001)).resolves.toMatchObject({ fullName: 'acme/shop' })
    await expect(doorWithToken.branch('acme/shop', 'main')).resolves.toMatch(/^[0-9a-f]{40}$/)
    await expect(doorWithToken.branch('acme/shop', 'no/such')).resolves.toBeUndefined()
    await expect(doorWithToken.commit('acme/shop', 'f'.repeat(40))).resolves.toBeUndefined()
    await expect(doorWithToken.repository(4002)).resolves.toBeUndefined()
    await expect(doorWithToken.branch('acme/secret-plans', 'main')).resolves.toBeUndefined()
    await expect(doorWithToken.repository('globex/site')).resolves.toBeUndefined()
  })

  test('names resolve within the installation’s account only', async () => {
    const { door, installation } = installedSite(github)
    const request = { installationId: installation.id, permissions: { metadata: 'read' } } as const
    const minted = await door.mint({ ...request, repositoryNames: ['shop'] })
    expect(minted.repositories).toEqual([{ id: 4001, fullName: 'acme/shop' }])
    await expect(door.mint({ ...request, repositoryNames: ['site'] })).rejects.toMatchObject({ code: 'not_found' })
    await expect(
      door.mint({ installationId: installation.id, repositoryIds: [4003], permissions: { metadata: 'read' } }),
    ).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  test('permissions the App does not have are refused', async () => {
    const { door, installation } = installedSite(github)
    const request = { installationId: installation.id, repositoryIds: [4001], permissions: { administration: 'write' } } as const
    await expect(door.mint(request)).rejects.toMatchObject({ code: 'forbidden', reason: 'PermissionNotGranted' })
  })

  test('a collaborator’s permission comes with the person’s id', async () => {
    const { door, installation, repositoryDoor } = installedSite(github)
    const { token } = await door.mint({
      installationId: installation.id,
      repositoryIds: [4001],
      permissions: { metadata: 'read' },
    })
    const withToken = repositoryDoor(token)
    await expect(withToken.collaboratorPermission('acme/shop', 'dave')).resolves.toEqual({ permission: 'write', userId: 1002 })
    await expect(withToken.collaboratorPermission('acme/shop', 'olivia')).resolves.toEqual({ permission: 'admin', userId: 1001 })
    const stranger = await withToken.collaboratorPermission('acme/shop', 'noah')
    expect(stranger.permission).toBe('none')
    await expect(withToken.userById(1002)).resolves.toEqual({ id: 1002, login: 'dave' })
  })

  test('a revoked token is dead, and revoking it again is no error', async () => {
    const { door, installation, repositoryDoor } = installedSite(github)
    const { token } = await door.mint({
      installationId: installation.id,
      repositoryIds: [4001],
      permissions: { metadata: 'read' },
    })
    await door.revoke(token)
    await expect(repositoryDoor(token).repository(4001)).rejects.toMatchObject({ reason: 'CredentialRefused' })
    await expect(door.revoke(token)).resolves.toBeUndefined()
  })

  test('a suspended installation mints nothing', async () => {
    const { door, installation } = installedSite(github)
    setSuspended(github.context, installation, 1001, true)
    const request = { installationId: installation.id, repositoryIds: [4001], permissions: { metadata: 'read' } } as const
    await expect(door.mint(request)).rejects.toMatchObject({ code: 'forbidden', reason: 'InstallationSuspended' })
    expect((await door.installation(installation.id))?.suspendedAt).toBeInstanceOf(Date)
    setSuspended(github.context, installation, 1001, false)
  })

  test('a token that reads members tells owners from members by id', async () => {
    const { door, installation, organizationDoor } = installedSite(github)
    const { token } = await door.mintOrganizationReader(installation.id)
    const members = organizationDoor(token)
    await expect(members.membership('acme', 'olivia')).resolves.toEqual({
      state: 'active',
      role: 'admin',
      organizationId: 2001,
      userId: 1001,
    })
    await expect(members.membership('acme', 'mia')).resolves.toMatchObject({ role: 'member' })
    await expect(members.membership('acme', 'noah')).resolves.toBeUndefined()
  })
})
