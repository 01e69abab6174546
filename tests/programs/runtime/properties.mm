// Declared properties, as functions that copy or describe any object ask for them.

#import <Foundation/Foundation.h>
#import <objc/runtime.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "program.h"

@interface Layer : NSObject
@property(nonatomic, copy) NSString* name;
@property int count;
@property(nonatomic, readonly, getter=isOn) BOOL on;
@property(class, nonatomic) int made;
@end

@implementation Layer

static int made;

+ (int)made {
  return made;
}

+ (void)setMade:(int)count {
  made = count;
}

@end

@interface Dense : Layer
@property(nonatomic, strong) NSArray<NSNumber*>* shape;
@end

@implementation Dense
@end

@interface Plain : Dense
@end

@implementation Plain
@end

static std::string listed(Class asked) {
  unsigned count = 0;
  objc_property_t* properties = class_copyPropertyList(asked, &count);
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += std::string(property_getName(properties[i])) + " ";
  CHECK((count == 0) == (properties == nullptr) && (!properties || properties[count] == nullptr));
  std::free(properties);
  return text;
}

int main() {
  @autoreleasepool {
    CHECK(listed([Layer class]) == "name count on ");
    CHECK(listed([Dense class]) == "shape ");
    CHECK(listed([Plain class]).empty() && listed([NSArray class]).empty() && listed(nil).empty());
    CHECK(listed(object_getClass([Layer class])) == "made ");

    objc_property_t name = class_getProperty([Plain class], "name");
    CHECK(name && strcmp(property_getAttributes(name), "T@\"NSString\",C,N,V_name") == 0);
    objc_property_t on = class_getProperty([Layer class], "on");
    const std::string attributes = property_getAttributes(on);
    CHECK(attributes.find(",R,N,GisOn,V_on") == 2);
    CHECK(!class_getProperty([Layer class], "shape") && !class_getProperty(nil, "name"));
  }
}
