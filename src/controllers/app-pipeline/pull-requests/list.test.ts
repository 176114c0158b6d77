// All pages of a list, or an error: a part of a list says nothing.
import { expect, test } from 'vitest'
import { pullRequestsOfPage } from '../../../github/index.ts'
import { AppError } from '../../../lib/errors.ts'
import { pull } from '../testing/app-pipeline.ts'
import { listOpen, maxListed } from './list.ts'

const repository = { id: 7, fullName: 'acme/shop' }
const { signal } = new AbortController()
const page = (index: number, size = pullRequestsOfPage) =>
  Array.from({ length: size }, (_, offset) => pull(index * pullRequestsOfPage - offset))

/** Lists through a server that answers each page like this; resolves to what was asked, too. */
async function listed(answer: (wanted: number) => ReturnType<typeof page>) {
  const asked: number[] = []
  const openPullRequests = async (id: number, wanted: number) => {
    expect(id).toBe(7)
    asked.push(wanted)
    return answer(wanted)
  }
  return { asked, ...(await listOpen({ openPullRequests }, repository, signal)) }
}

test('however many are open, all are listed: a page that is not full is the last one', async () => {
  const { pulls, isCut, asked } = await listed(wanted => (wanted < 4 ? page(wanted) : page(wanted, 29)))
  expect([pulls.size, isCut, asked]).toEqual([3 * pullRequestsOfPage + 29, false, [1, 2, 3, 4]])
  expect((await listed(() => [])).pulls.size).toBe(0)
})

test('one that moves to the next page while the list is read is there once', async () => {
  const { pulls } = await listed(wanted => (wanted === 1 ? page(1) : [pull(1), ...page(2, 5)]))
  expect(pulls.size).toBe(pullRequestsOfPage + 5)
})

test.each([1, 2, 3])('a failure of page %i is a failure of the list', async failing => {
  const list = listed(wanted => {
    if (wanted === failing) throw new AppError('unavailable', 'away')
    return page(wanted)
  })
  await expect(list).rejects.toMatchObject({ code: 'unavailable' })
})

test('outsiders cannot make it longer than its bound, nor can a server that ignores the page', async () => {
  for (const answer of [page, () => page(1)]) {
    const { asked, isCut, pulls } = await listed(answer)
    expect(asked).toHaveLength(Math.ceil(maxListed / pullRequestsOfPage))
    expect(isCut).toBe(true)
    expect(pulls.size).toBeLessThan(maxListed + pullRequestsOfPage)
  }
})

test('a repository that GitHub does not show is named, with its id', async () => {
  const list = listed(() => {
    throw new AppError('not_found', 'Not Found')
  })
  await expect(list).rejects.toMatchObject({
    code: 'not_found',
    reason: 'RepositoryNotFound',
    message: expect.stringContaining('id 7'),
  })
})
