// Prints, for each GLB of a folder, the number of errors that Khronos' validator finds, as JSON.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import validator from "gltf-validator";

const folder = process.argv[2];
const errors = {};
for (const name of readdirSync(folder).filter((each) => each.endsWith(".glb"))) {
  const content = new Uint8Array(readFileSync(join(folder, name)));
  const report = await validator.validateBytes(content, { maxIssues: 20 });
  errors[name] = report.issues.numErrors;
}
console.log(JSON.stringify(errors));
