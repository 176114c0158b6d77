import { describe, expect, test } from 'vitest'
import { createGroupCommit } from './group-commit.ts'

function recordingCommit(options: { readonly maxItems?: number; readonly maxWaiting?: number; readonly failOn?: string } = {}) {
  const batches: string[][] = []
  const commit = createGroupCommit<string, string>({
    maxItems: options.maxItems ?? 100,
    maxWaiting: options.maxWaiting ?? 100,
    async write(items) {
      batches.push([...items])
      await new Promise(resolve => setImmediate(resolve))
      if (options.failOn !== undefined && items.includes(options.failOn)) throw new Error('disk full')
      return items.map(item => item.toUpperCase())
    },
    overflow: () => new Error('too many'),
  })
  return { batches, commit }
}

describe('group commit', () => {
  test('resolves every item to its own result, in few batches and in order', async () => {
    const { batches, commit } = recordingCommit()
    const first = commit.add('a')
    await new Promise(resolve => setImmediate(resolve))
    const rest = ['b', 'c', 'd'].map(item => commit.add(item))
    expect(await Promise.all([first, ...rest])).toEqual(['A', 'B', 'C', 'D'])
    expect(batches).toEqual([['a'], ['b', 'c', 'd']])
  })

  test('never puts more than the limit into one batch', async () => {
    const { batches, commit } = recordingCommit({ maxItems: 2 })
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map(item => commit.add(item)))
    expect(batches).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  })

  test('another transaction begins beside one in progress only when enough items wait', async () => {
    const open: (() => void)[] = []
    const batches: string[][] = []
    const commit = createGroupCommit<string, string>({
      maxItems: 3,
      maxWaiting: 100,
      async write(items) {
        batches.push([...items])
        await new Promise<void>(resolve => open.push(resolve))
        return [...items]
      },
      overflow: () => new Error('too many'),
      sideBySide: { most: 2, waiting: 2 },
    })
    const settled = () => new Promise(resolve => setImmediate(resolve))
    const added = [commit.add('a')]
    await settled()
    added.push(commit.add('b'))
    await settled()
    expect(batches).toEqual([['a']])
    added.push(commit.add('c'))
    await settled()
    expect(batches).toEqual([['a'], ['b', 'c']])
    added.push(...['d', 'e', 'f', 'g'].map(item => commit.add(item)))
    await settled()
    expect(batches).toHaveLength(2)
    // The first that ends takes a whole batch; then one item waits, for which only the last writer goes on.
    open.shift()?.()
    await settled()
    expect(batches[2]).toEqual(['d', 'e', 'f'])
    open.shift()?.()
    await settled()
    expect(batches).toHaveLength(3)
    open.shift()?.()
    await settled()
    expect(batches[3]).toEqual(['g'])
    open.shift()?.()
    expect(await Promise.all(added)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    await commit.idle()
    expect(await Promise.all([commit.add('h'), settled().then(() => open.shift()?.())])).toEqual(['h', undefined])
  })

  test('rejects every item of a failed batch and no other, and continues', async () => {
    const { commit } = recordingCommit({ maxItems: 2, failOn: 'c' })
    const results = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map(item => commit.add(item)))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(await commit.add('f')).toBe('F')
  })

  test('refuses an item beyond the bound of the queue', async () => {
    const { commit } = recordingCommit({ maxWaiting: 2 })
    const kept = [commit.add('a'), commit.add('b')]
    await expect(commit.add('c')).rejects.toThrow('too many')
    expect(await Promise.all(kept)).toEqual(['A', 'B'])
    await commit.idle()
  })

  test('groups and queues only what the weights allow, but accepts any single item', async () => {
    const batches: string[][] = []
    const commit = createGroupCommit<string, string>({
      maxItems: 100,
      maxWaiting: 100,
      weight: { of: item => item.length, maxTogether: 5, maxWaiting: 12 },
      async write(items) {
        batches.push([...items])
        return [...items]
      },
      overflow: () => new Error('too much'),
    })
    const kept = ['aaa', 'bb', 'ccccccc'].map(item => commit.add(item))
    await expect(commit.add('d')).rejects.toThrow('too much')
    expect(await Promise.all(kept)).toEqual(['aaa', 'bb', 'ccccccc'])
    expect(batches).toEqual([['aaa', 'bb'], ['ccccccc']])
    expect(await commit.add('x'.repeat(50))).toBe('x'.repeat(50))
  })
})
