// The page of previews: what can be approved, and that what strangers wrote stays text.
import { expect, test } from 'vitest'
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import { previewsPage } from './previews.ts'

const person = { host: 'github.com', userId: 1, login: 'mia', subject: 'github|github.com|1', csrf: 'secret-of-the-form' }
const head = 'a'.repeat(40)
const hostile = '"><script>alert(1)</script>\'&'

const pipeline = (previews: readonly object[], repository = 'acme/shop'): AppPipeline =>
  ({
    metadata: { name: 'shop', namespace: 'acme' },
    spec: { repository },
    status: { repository: { id: 11, name: repository, requested: repository }, previews },
  }) as unknown as AppPipeline

const shown = (...previews: readonly object[]) =>
  previewsPage({ person, namespace: 'acme', pipelines: [pipeline(previews)], web: 'https://github.com' }).toString()

test('what waits has a form with the whole commit and the secret of the person; nothing else has one', () => {
  const text = shown(
    { number: 7, headCommit: head, state: 'WaitingForApproval', message: 'waits' },
    { number: 8, headCommit: 'b'.repeat(40), state: 'Running', message: '', url: 'https://pr-8.example.com' },
    { number: 9, headCommit: 'c'.repeat(40), state: 'LeftOut', message: 'a draft' },
  )
  const forms = [...text.matchAll(/<form[^>]*previews\/approve[\s\S]*?<\/form>/g)].map(([form]) => form)
  expect(forms).toHaveLength(1)
  expect(forms[0]).toContain(`name="headCommit" value="${head}"`)
  expect(forms[0]).toContain('name="csrf" value="secret-of-the-form"')
  expect(forms[0]).toContain('method="post"')
  expect(text).toContain(`href="https://github.com/acme/shop/pull/7/commits/${head}"`)
  expect(text).toContain('An approval is for one commit')
})

test('what strangers wrote is text', () => {
  const preview = { number: 7, headCommit: head, state: 'WaitingForApproval', message: hostile }
  const of = pipeline([preview], `acme/${hostile}`)
  const text = previewsPage({ person, namespace: 'acme', pipelines: [of], web: 'https://github.com' }).toString()
  expect(text).not.toContain('<script>')
  expect(text).toContain('%22%3E%3Cscript%3E')
})

test('a namespace without AppPipelines says so, without a note about approvals', () => {
  const text = previewsPage({ person, namespace: 'acme', pipelines: [], web: 'https://github.com' }).toString()
  expect(text).toContain('There is no AppPipeline in this namespace.')
  expect(text).not.toContain('An approval is for one commit')
})
