import { expect, test } from 'vitest'
import { endpointsOf } from '../../github/index.ts'
import { type DeliveryHeaders, foreignReason } from './delivering-app.ts'
import { parseGitHubEvent } from './github-event.ts'

const ours = { endpoints: endpointsOf({ host: 'github.com' }), signInAppId: 5, appIds: new Set([5, 6]) }
const push = { ref: 'refs/heads/main', before: 'a', after: 'b', repository: { id: 1, full_name: 'a/b' } }
const revoked = { action: 'revoked', sender: { id: 1 } }
const created = (appId: number) => ({ action: 'created', installation: { id: 9, app_id: appId }, sender: { id: 1 } })

function reason(headers: Partial<DeliveryHeaders>, [name, body]: Delivered, apps = ours): string | undefined {
  const none = { targetType: undefined, targetId: undefined, enterpriseHost: undefined }
  return foreignReason({ ...none, ...headers }, parseGitHubEvent(name, Buffer.from(JSON.stringify(body))), apps)
}

type Delivered = readonly [name: string, body: object]

test.each<[string, Partial<DeliveryHeaders>, Delivered, string | undefined]>([
  ['of an App of ours', { targetType: 'integration', targetId: '6' }, ['push', push], undefined],
  ['that names no App', {}, ['push', push], undefined],
  ['of another App', { targetType: 'integration', targetId: '7' }, ['push', push], 'another_app'],
  ['with an id that is not a number', { targetId: '5 6' }, ['push', push], 'another_app'],
  ['of a webhook of a repository', { targetType: 'repository', targetId: '5' }, ['push', push], 'not_an_app'],
  ['of an Enterprise Server', { enterpriseHost: 'ghe.example.com', targetId: '5' }, ['push', push], 'another_host'],
  ['whose body names another App', { targetId: '5' }, ['installation', created(7)], 'another_app'],
  ['whose body and headers name different ones of ours', { targetId: '5' }, ['installation', created(6)], 'another_app'],
  ['of the App of the body', {}, ['installation', created(6)], undefined],
  ['that signs out of the App with which people sign in', { targetId: '5' }, ['github_app_authorization', revoked], undefined],
  ['that signs out of another App of ours', { targetId: '6' }, ['github_app_authorization', revoked], 'another_app'],
  ['that signs out of an App that it does not name', {}, ['github_app_authorization', revoked], 'another_app'],
])('a delivery %s', (_name, headers, delivered, expected) => {
  expect(reason(headers, delivered)).toBe(expected)
})

test('an Enterprise Server may name itself as its address does', () => {
  const endpoints = { host: 'ghe.example.com', web: 'https://ghe.internal:8443', api: 'https://ghe.internal:8443/api/v3' }
  for (const enterpriseHost of ['ghe.example.com', 'GHE.internal:8443'])
    expect(reason({ enterpriseHost, targetId: '5' }, ['push', push], { ...ours, endpoints })).toBeUndefined()
})
