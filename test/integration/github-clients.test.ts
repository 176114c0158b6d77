// The clients against the GitHub emulator with both formats of installation tokens: what a tenant's token can reach and what
// revokes it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setSuspended } from '../../dev/github/actions/install-app.ts'
import type { RunningEmulator } from '../../dev/github/emulator.ts'
import { startStockedEmulator } from '../../dev/github/testing/stocked-emulator.ts'
import { createTokenRevoker } from '../../src/github/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { installedFixture } from '../fixtures/github-fixture.ts'

describe.each(['short', 'stateless'] as const)('with %s tokens', installationTokenFormat => {
  let github: RunningEmulator
  beforeAll(async () => {
    github = await startStockedEmulator({ installationTokenFormat })
  })
  afterAll(() => github?.stop())

  test('the App reads itself and its installation, and no other installation', async () => {
    const { client, installation } = installedFixture(github)
    await expect(client.app()).resolves.toMatchObject({ id: github.app.id, slug: github.app.slug })
    await expect(client.installation(installation.id)).resolves.toMatchObject({
      appId: github.app.id,
      account: { id: 2001, login: 'acme', type: 'Organization' },
      suspendedAt: undefined,
    })
    await expect(client.installation(999_999)).resolves.toBeUndefined()
  })

  test('a token for one repository reads that one, and no other of the organisation', async () => {
    const { client, installation, repositoryClient } = installedFixture(github)
    const minted = await client.mint({
      installationId: installation.id,
      repositoryIds: [4001],
      permissions: { contents: 'read' },
    })
    expect(minted.repositoryIds).toEqual([4001])
    expect(minted.permissions).toMatchObject({ contents: 'read' })
    expect(minted.token.length).toBeGreaterThan(installationTokenFormat === 'short' ? 39 : 300)
    const withToken = repositoryClient(minted.token)
    await expect(withToken.branch(4001, 'main')).resolves.toMatch(/^[0-9a-f]{40}$/)
    await expect(withToken.branch(4001, 'no/such')).resolves.toBeUndefined()
    await expect(withToken.branch(4002, 'main')).resolves.toBeUndefined()
    await expect(withToken.branch(4003, 'main')).resolves.toBeUndefined()
    const statusOf = async (path: string): Promise<number> => {
      const answer = await fetch(`${github.apiUrl}${path}`, { headers: { authorization: `Bearer ${minted.token.reveal()}` } })
      await answer.body?.cancel()
      return answer.status
    }
    expect(await statusOf('/repositories/4001')).toBe(200)
    expect(await statusOf('/repositories/4002')).toBe(404)
    expect(await statusOf('/repos/globex/site')).toBe(404)
  })

  test('names resolve within the installation’s account only', async () => {
    const { client, installation } = installedFixture(github)
    const request = { installationId: installation.id, permissions: { metadata: 'read' } } as const
    const minted = await client.mint({ ...request, repositoryNames: ['shop'] })
    expect(minted.repositories).toEqual([{ id: 4001, fullName: 'acme/shop', visibility: 'private' }])
    await expect(client.mint({ ...request, repositoryNames: ['site'] })).rejects.toMatchObject({ code: 'not_found' })
    await expect(
      client.mint({ installationId: installation.id, repositoryIds: [4003], permissions: { metadata: 'read' } }),
    ).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  test('permissions the App does not have are refused', async () => {
    const { client, installation } = installedFixture(github)
    const request = { installationId: installation.id, repositoryIds: [4001], permissions: { administration: 'write' } } as const
    await expect(client.mint(request)).rejects.toMatchObject({ code: 'forbidden', reason: 'PermissionNotGranted' })
  })

  test('a collaborator’s permission comes with the person’s id', async () => {
    const { client, installation, repositoryClient } = installedFixture(github)
    const { token } = await client.mint({
      installationId: installation.id,
      repositoryIds: [4001],
      permissions: { metadata: 'read' },
    })
    const withToken = repositoryClient(token)
    await expect(withToken.collaboratorPermission(4001, 'dave')).resolves.toEqual({ permission: 'write', userId: 1002 })
    await expect(withToken.collaboratorPermission(4001, 'olivia')).resolves.toEqual({ permission: 'admin', userId: 1001 })
    const stranger = await withToken.collaboratorPermission(4001, 'noah')
    expect(stranger.permission).toBe('none')
    await expect(withToken.userById(1002)).resolves.toEqual({ id: 1002, login: 'dave' })
  })

  test('a revoked token is refused, and revoking it again is not an error', async () => {
    const { client, installation, repositoryClient } = installedFixture(github)
    const { token } = await client.mint({
      installationId: installation.id,
      repositoryIds: [4001],
      permissions: { metadata: 'read' },
    })
    await client.revoke(token)
    await expect(repositoryClient(token).branch(4001, 'main')).rejects.toMatchObject({ reason: 'CredentialRefused' })
    await expect(client.revoke(token)).resolves.toBeUndefined()
  })

  test('a suspended installation mints nothing', async () => {
    const { client, installation } = installedFixture(github)
    setSuspended(github.context, installation, 1001, true)
    const request = { installationId: installation.id, repositoryIds: [4001], permissions: { metadata: 'read' } } as const
    await expect(client.mint(request)).rejects.toMatchObject({ code: 'forbidden', reason: 'InstallationSuspended' })
    expect((await client.installation(installation.id))?.suspendedAt).toBeInstanceOf(Date)
    setSuspended(github.context, installation, 1001, false)
  })

  test('a token is revoked with nothing but the token: without the App, its key or its client', async () => {
    const { client, installation, repositoryClient } = installedFixture(github)
    const { token } = await client.mint({
      installationId: installation.id,
      repositoryIds: [4001],
      permissions: { metadata: 'read' },
    })
    const revoke = createTokenRevoker({ log: silentLog, clock: systemClock })
    await expect(revoke(github.apiUrl, token)).resolves.toBe('revoked')
    await expect(repositoryClient(token).branch(4001, 'main')).rejects.toMatchObject({ reason: 'CredentialRefused' })
    // What was invalid before is told apart from what was revoked now.
    await expect(revoke(github.apiUrl, token)).resolves.toBe('invalid')
  })

  test('a token of a suspended installation can be used for nothing, and is revoked when the suspension ends', async () => {
    const { client, installation, repositoryClient } = installedFixture(github)
    const { token } = await client.mint({
      installationId: installation.id,
      repositoryIds: [4001],
      permissions: { contents: 'read' },
    })
    const revoke = createTokenRevoker({ log: silentLog, clock: systemClock })
    const read = () => repositoryClient(token).branch(4001, 'main')
    setSuspended(github.context, installation, 1001, true)
    await expect(revoke(github.apiUrl, token)).resolves.toBe('suspended')
    await expect(read()).rejects.toMatchObject({ reason: 'InstallationSuspended' })
    setSuspended(github.context, installation, 1001, false)
    // GitHub accepts the token again: only its revocation ends it.
    await expect(read()).resolves.toBeDefined()
    await expect(revoke(github.apiUrl, token)).resolves.toBe('revoked')
    await expect(read()).rejects.toMatchObject({ reason: 'CredentialRefused' })
  })

  test('a token that reads members distinguishes owners from members by id', async () => {
    const { client, installation, organizationClient } = installedFixture(github)
    const { token } = await client.mintOrganizationReader(installation.id)
    const members = organizationClient(token)
    await expect(members.membership('acme', 'olivia')).resolves.toEqual({
      state: 'active',
      role: 'admin',
      organizationId: 2001,
      userId: 1001,
    })
    await expect(members.membership('acme', 'mia')).resolves.toMatchObject({ role: 'member' })
    await expect(members.membership('acme', 'noah')).resolves.toBeUndefined()
    await expect(members.hasTeam(2001, 3001)).resolves.toBe(true)
    await expect(members.hasTeam(2001, 3999)).resolves.toBe(false)
    await expect(members.hasTeam(2002, 3001)).rejects.toMatchObject({ code: 'forbidden' })
  })
})
