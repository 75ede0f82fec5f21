/**
 * Loaded into a service before it starts (`NODE_OPTIONS=--import …`): records which functions of the program run. SIGUSR2 prints them as
 * one line of JSON, `{"passed": ["file:function:offset", …]}`, and begins again.
 */
import { Session } from 'node:inspector';

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

process.on('SIGUSR2', () => {
  session.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error !== null) throw error;
    const passed = coverage.result.flatMap(({ url, functions }) => {
      const file = /\/dist\/(.*)\.js$/.exec(url)?.[1];
      if (file === undefined || url.includes('/node_modules/')) return [];
      return functions.flatMap(({ functionName, ranges }) =>
        (ranges[0]?.count ?? 0) > 0 ? [`${file}:${functionName}:${ranges[0].startOffset}`] : [],
      );
    });
    process.stderr.write(`${JSON.stringify({ passed })}\n`);
  });
});
