import { expect, test } from 'vitest'
import { isSilent, silencesUntilFound, type WatchRequest, watchBefore } from './silences.ts'

const watch = (path: string, at: number, fault?: string): WatchRequest => ({ verb: 'watch', path, at, fault })

test('a silence lasts until the same path is watched or listed again, or until now', () => {
  const log: WatchRequest[] = [
    watch('/pods', 1000),
    watch('/pods', 2000, 'stall'),
    watch('/services', 3000),
    { verb: 'get', path: '/pods', at: 4000, fault: undefined },
    watch('/pods', 52_000),
    watch('/services', 60_000, 'half-open'),
    { verb: 'list', path: '/services', at: 110_000, fault: undefined },
    watch('/nodes', 120_000, 'half-open'),
    { verb: 'list', path: '/nodes', at: 119_000, fault: 'reset' },
  ]
  expect(silencesUntilFound(log, 125_000)).toEqual([50, 50, 5])
})

test('watchBefore finds the previous watch by its path', () => {
  const log = [watch('/pods', 1, 'stall'), watch('/services', 2), watch('/pods', 3), watch('/pods', 4)]
  const silentBefore = log.map(each => isSilent(watchBefore(log, each)))
  expect(silentBefore).toEqual([false, false, true, false])
})
