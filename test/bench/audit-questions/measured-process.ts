// Loaded before a program (`--import`): writes what it used into the file of BENCH_USAGE_FILE as it ends.
import { writeFileSync } from 'node:fs'

const { BENCH_USAGE_FILE: file } = process.env
process.once('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  if (file !== undefined)
    writeFileSync(file, JSON.stringify({ peakRssBytes: maxRSS * 1024, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6 }))
})
